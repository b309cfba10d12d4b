import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { isEndable, signalIdentity } from '../../src/act/send-signal.ts';
import type { SignalName } from '../../src/model/plan.ts';
import { procfsSystem } from '../../src/observe/procfs/system.ts';
import type { Presence } from '../../src/observe/system.ts';
import { childrenOf, isRunning, rawProcess } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

const OURS = { pid: 10, start: 'ours' };
const at = (start: string, state: string): Presence => ({
  status: 'present',
  identity: { pid: 10, start },
  state,
  ppid: 1,
  pgid: 10,
  sid: 10,
  rss: 0,
});

/** What is seen at the pid, look by look (the last stays), and what it was sent. */
const scripted = (...looks: Presence[]) => {
  const sent: string[] = [];
  const count = { looks: 0 };
  const system = {
    readOnly: null,
    presence: () => {
      count.looks += 1;
      return looks.length > 1 ? looks.shift()! : looks[0]!;
    },
    deliver: (_pid: number, signal: SignalName) => void sent.push(signal),
  };
  return { sent, count, send: (signal: SignalName) => signalIdentity(system, OURS, signal, { hold: true }) };
};

describe('a process that is held for the moment of its signal', () => {
  test('is stopped, looked at again, signalled, and goes on to end', async () => {
    const { sent, send } = scripted(at('ours', 'S'), at('ours', 'R'), at('ours', 'T'));
    expect(await send('SIGTERM')).toEqual({ status: 'sent' });
    expect(sent).toEqual(['SIGSTOP', 'SIGTERM', 'SIGCONT']);
  });

  test('goes on when we exit in the middle, and only if it was stopped by us', async () => {
    const others = new Set(process.listeners('exit'));
    const exiting = async (...looks: Presence[]): Promise<readonly string[]> => {
      const { sent, send } = scripted(...looks);
      const sending = send('SIGTERM');
      // It waits for a process that does not hold still yet.
      await until('it to look', () => process.listeners('exit').some(listener => !others.has(listener)));
      const then = sent.length;
      for (const listener of process.listeners('exit')) if (!others.has(listener)) listener(0);
      const answer = sent.slice(then);
      await sending;
      expect(process.listeners('exit').filter(listener => !others.has(listener))).toEqual([]);
      return answer;
    };
    expect(
      await exiting(at('ours', 'S'), ...Array<Presence>(40).fill(at('ours', 'R')), at('ours', 'T')),
    ).toEqual(['SIGCONT']);
    expect(await exiting(at('ours', 'T'))).toEqual([]);
  });

  test('needs not go on when it is killed', async () => {
    const { sent, send } = scripted(at('ours', 'S'), at('ours', 'T'));
    await send('SIGKILL');
    expect(sent).toEqual(['SIGSTOP', 'SIGKILL']);
  });

  test('only stops and resumes a process that just got the pid', async () => {
    for (const state of ['R', 'T']) {
      const { sent, send } = scripted(at('ours', 'S'), at('stranger', state));
      expect(await send('SIGKILL')).toEqual({ status: 'changed' });
      expect(sent).toEqual(['SIGSTOP', 'SIGCONT']);
    }
  });

  test('goes on when it cannot be identified again', async () => {
    const hidden: Presence = { status: 'unreadable', why: 'hidden' };
    const { sent, send } = scripted(at('ours', 'S'), hidden);
    expect(await send('SIGKILL')).toEqual(hidden);
    expect(sent).toEqual(['SIGSTOP', 'SIGCONT']);
  });

  test('gets no signal when it ended while it was held', async () => {
    const { sent, send } = scripted(at('ours', 'S'), { status: 'gone' });
    expect(await send('SIGKILL')).toEqual({ status: 'gone', held: true });
    expect(sent).toEqual(['SIGSTOP']);
  });

  test.each(['T', 't'])('is not stopped when it rests anyway (%s)', async state => {
    const { sent, send } = scripted(at('ours', state));
    await send('SIGTERM');
    expect(sent).toEqual(['SIGTERM']);
  });

  test('gets no signal as a zombie, because its pid may be reused', async () => {
    const { sent, send } = scripted(at('ours', 'Z'));
    expect(await send('SIGKILL')).toEqual({ status: 'gone' });
    expect(sent).toEqual([]);
    const ending = scripted(at('ours', 'S'), at('ours', 'R'), at('ours', 'Z'));
    expect(await ending.send('SIGKILL')).toEqual({ status: 'gone', held: true });
    expect(ending.sent).toEqual(['SIGSTOP', 'SIGCONT']);
  });

  test('is signalled after a moment also when it does not stop, as in the kernel’s hands', async () => {
    const { sent, send } = scripted(at('ours', 'D'));
    expect(await send('SIGKILL')).toEqual({ status: 'sent' });
    expect(sent).toEqual(['SIGSTOP', 'SIGKILL']);
  });

  test('gets no signal when it does not stop in time', async () => {
    const { sent, send } = scripted(at('ours', 'R'));
    expect(await send('SIGKILL')).toMatchObject({ status: 'unreadable' });
    expect(sent).toEqual(['SIGSTOP', 'SIGCONT']);
  });

  test.each([
    ['another process', at('stranger', 'S')],
    ['nobody', { status: 'gone' } as const],
    ['somebody else’s', { ...at('ours', 'S'), uids: [7, 7] as const }],
  ])('is never stopped when it is %s', async (_, presence) => {
    const { sent, send } = scripted(presence as Presence);
    await send('SIGKILL');
    expect(sent).toEqual([]);
  });
});

describe('how long it is waited for', () => {
  /** What the clock says, look by look. */
  const times = (...ms: number[]): void => {
    vi.spyOn(performance, 'now').mockImplementation(() => (ms.length > 1 ? ms.shift()! : ms[0]!));
  };
  afterEach(() => vi.restoreAllMocks());

  test('until it rests, however many looks that takes', async () => {
    times(0);
    const { count, send } = scripted(at('ours', 'S'), at('ours', 'S'), at('ours', 'D'), at('ours', 'T'));
    expect(await send('SIGKILL')).toEqual({ status: 'sent' });
    // Before the stop, three for it to rest, and one for the signal.
    expect(count.looks).toBe(5);
  });

  test.each([
    ['D', [29, 30], 30],
    ['R', [1499, 1500], 1500],
  ])('one in state %s no longer than its time', async (state, ms) => {
    times(0, ...ms, 9000);
    const { count, send } = scripted(at('ours', state));
    await send('SIGKILL');
    expect(count.looks).toBe(state === 'D' ? 4 : 3);
  });

  test('and everything else in this process goes on meanwhile', async () => {
    const others = vi.fn();
    setTimeout(others, 1);
    const { count, send } = scripted(at('ours', 'R'));
    const isOver = (): boolean => others.mock.calls.length > 0 || count.looks > 50_000;
    vi.spyOn(performance, 'now').mockImplementation(() => (isOver() ? 9000 : 0));
    await send('SIGKILL');
    expect(others).toHaveBeenCalled();
  });
});

describe('no signal leaves', () => {
  const deliver = vi.fn();
  const presence = vi.fn(() => at('ours', 'S'));
  beforeEach(() => vi.resetAllMocks());

  test.each([0, -1, -10, 1, 2, 2.5, Number.NaN, Number.POSITIVE_INFINITY])('to pid %d', async pid => {
    expect(isEndable(pid)).toBe(false);
    const system = { readOnly: null, presence, deliver };
    expect(await signalIdentity(system, { pid, start: 'ours' }, 'SIGTERM')).toEqual({ status: 'denied' });
    expect([presence.mock.calls, deliver.mock.calls]).toEqual([[], []]);
  });

  test('to what is only a record', async () => {
    const system = { readOnly: 'a recorded table', presence, deliver };
    expect(await signalIdentity(system, OURS, 'SIGTERM')).toEqual({
      status: 'unreadable',
      why: 'a recorded table',
    });
    expect(deliver).not.toHaveBeenCalled();
  });

  test("to another user's, and it is said whose", async () => {
    const theirs = { ...at('ours', 'S'), uids: [process.getuid!(), 4242] as const };
    const system = { readOnly: null, presence: () => theirs as Presence, deliver };
    expect(await signalIdentity(system, OURS, 'SIGTERM')).toEqual({
      status: 'unreadable',
      why: 'it belongs to another user (uid 4242)',
    });
    expect(deliver).not.toHaveBeenCalled();
  });

  test.each([
    ['ESRCH', 'gone'],
    ['EPERM', 'denied'],
  ])('and %s means %s', async (code, status) => {
    const fails = () => {
      throw Object.assign(new Error('kill'), { code });
    };
    const system = { readOnly: null, presence: () => at('ours', 'S'), deliver: fails };
    expect(isEndable(3)).toBe(true);
    expect(await signalIdentity(system, OURS, 'SIGTERM')).toEqual({ status });
  });
});

describe('a real process', () => {
  let sandbox: Sandbox;
  beforeEach(() => {
    sandbox = new Sandbox();
  });
  afterEach(() => sandbox.close());
  const system = procfsSystem();

  test('still gets to run its own handler for TERM', async () => {
    const said = sandbox.path('said');
    const { pid } = sandbox.start([
      'perl',
      '-e',
      '$SIG{TERM} = sub { open(F, ">", $ARGV[0]); close F; exit 0 }; sleep 1 while 1',
      said,
    ]);
    await until('its handler', () => rawProcess(pid)?.comm === 'perl' && rawProcess(pid)?.state === 'S');
    const target = { pid, start: rawProcess(pid)!.start };
    expect(await signalIdentity(system, target, 'SIGTERM', { hold: true })).toEqual({ status: 'sent' });
    await until('its end', () => !isRunning(pid, target.start));
  });

  test.each([true, false])('that has ended and waits for its parent gets nothing (held: %s)', async hold => {
    const parent = sandbox.start(['perl', '-e', 'exit 0 unless fork; sleep 1 while 1']);
    const { pid, start } = await until('a zombie', () =>
      childrenOf(parent.pid).find(({ state }) => state === 'Z'),
    );
    const sent: string[] = [];
    const listening = { ...system, deliver: (_pid: number, signal: SignalName) => void sent.push(signal) };
    expect(await signalIdentity(listening, { pid, start }, 'SIGKILL', { hold })).toEqual({ status: 'gone' });
    expect(sent).toEqual([]);
  });

  test('runs as before after it was stopped and resumed', async () => {
    const { pid, start } = sandbox.start([sandbox.sleeper('held'), '600']);
    await signalIdentity(system, { pid, start }, 'SIGCONT', { hold: true });
    expect(['S', 'R', 'D']).toContain(rawProcess(pid)?.state);
  });
});
