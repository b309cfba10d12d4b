import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { completeEarlierActs, executeWith } from '../../src/act/execute.ts';
import type { Outcome } from '../../src/model/plan.ts';
import { rawProcess } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { planOf } from './fake-system.ts';
import { realSystem } from './stage.ts';

let sandbox: Sandbox;
let directory: string;
beforeEach(() => {
  sandbox = new Sandbox();
  directory = sandbox.path('state', 'reaptop');
});
afterEach(() => {
  vi.unstubAllEnvs();
  sandbox.close();
});

const system = realSystem();
const log = (): Record<string, unknown>[] =>
  readFileSync(join(directory, 'audit.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
const locked = (): boolean => {
  try {
    return readFileSync(join(directory, 'clean.lock')).length > 0;
  } catch {
    return false;
  }
};
const victim = () => {
  const { pid, start } = sandbox.start(['sleep', '600']);
  return { pid, start };
};
const ended = (step: { pid: number; start: string }): Outcome => ({
  ...step,
  name: 'x',
  outcome: 'ended',
  why: 'ended by SIGTERM',
  freed: 100,
});
const subject = {
  kind: 'mcp',
  agent: 'claude',
  verdict: 'leak',
  session: 's-1',
  cwd: '/home/me/project',
} as const;

describe('an act', () => {
  test('puts a full log aside before its first line, and has both lines in the new one', async () => {
    const full = `${JSON.stringify({ event: 'outcome', id: 'old', pad: 'x'.repeat(4 * 1024 ** 2) })}\n`;
    sandbox.write('state/reaptop/audit.jsonl', full, 0o600);
    const run = async () => ({ outcomes: [], durationMs: 1 });
    const performed = await executeWith({ system, by: 'clean', why: 'x', plan: planOf([]), directory, run });
    expect(performed).toMatchObject({ status: 'done', warnings: [], audited: true });
    expect(log().map(({ event }) => event)).toEqual(['intent', 'outcome']);
    expect(readFileSync(join(directory, 'audit.1.jsonl'), 'utf8')).toBe(full);
  });

  test('is locked and written down before anything happens, and released after', async () => {
    const target = victim();
    const plan = planOf([{ ...target, subject, pss: 60 }]);
    let during: unknown[] = [];
    const performed = await executeWith({
      system,
      by: 'clean',
      why: 'clean --force',
      plan,
      boot: 'b1',
      directory,
      run: async () => {
        during = [locked(), ...log()];
        return { outcomes: [ended(target)], durationMs: 12.4, stopped: null };
      },
    });
    expect(during).toMatchObject([
      true,
      {
        schema: 1,
        event: 'intent',
        by: 'clean',
        why: 'clean --force',
        writer: { pid: process.pid, start: rawProcess(process.pid)?.start },
        boot: 'b1',
        plan: {
          steps: [{ ...target, ...subject, name: `p${target.pid}`, signal: 'SIGTERM', rss: 100, pss: 60 }],
          bytes: 100,
        },
      },
    ]);
    expect(during).toHaveLength(2);
    const [intent, outcome] = log();
    expect(outcome).toMatchObject({
      event: 'outcome',
      id: intent?.id,
      outcomes: [{ ...target, ...subject, outcome: 'ended', freed: 100 }],
      freed: 100,
      durationMs: 12,
      completedBy: null,
    });
    // Command lines may hold what redaction missed.
    expect(JSON.stringify(log())).not.toContain('command');
    expect(locked()).toBe(false);
    expect(performed).toMatchObject({ status: 'done', warnings: [], audited: true });
  });

  test('is not begun while another one runs', async () => {
    const plan = planOf([victim()]);
    const inner = () =>
      executeWith({
        system,
        by: 'tui',
        why: '',
        plan,
        directory,
        run: () => Promise.reject(new Error('ran')),
      });
    let second: unknown;
    await executeWith({
      system,
      by: 'clean',
      why: '',
      plan,
      directory,
      run: async () => {
        second = await inner();
        return { outcomes: [], durationMs: 0 };
      },
    });
    expect(second).toMatchObject({
      status: 'held',
      why: expect.stringContaining('another clean-up is running'),
    });
    expect(log()).toHaveLength(2);
  });

  test('that fails reports the state of its targets and releases the lock', async () => {
    const target = victim();
    const run = () => Promise.reject(new Error('the table is gone'));
    const act = { system, by: 'clean', why: '', plan: planOf([target]), directory, run } as const;
    await expect(executeWith(act)).rejects.toThrow('the table is gone');
    expect(log()[1]).toMatchObject({
      event: 'outcome',
      note: 'it failed: the table is gone',
      outcomes: [{ ...target, outcome: 'survived' }],
    });
    expect(locked()).toBe(false);
  });

  test('that fails records its real duration', async () => {
    const before = performance.now();
    const run = () => Promise.reject(new Error('no'));
    const act = { system, by: 'clean', why: '', plan: planOf([]), directory, run } as const;
    await expect(executeWith(act)).rejects.toThrow('no');
    expect(log()[1]?.durationMs).toBeLessThanOrEqual(Math.ceil(performance.now() - before));
  });

  test('writes down which sessions it meant, what it did to them and to files, and why it stopped', async () => {
    const execution = { outcomes: [], durationMs: 1, stopped: 'it was cancelled' };
    const done = { sessions: [{ id: '$1', ended: true }], files: [{ path: '/a', moved: true }] };
    const act = { system, by: 'sweep', why: '', plan: planOf([]), directory } as const;
    await executeWith({ ...act, sessions: [{ id: '$1' }], run: async () => ({ ...execution, ...done }) });
    await executeWith({ ...act, run: async () => ({ outcomes: [], durationMs: 1 }) });
    expect(log()).toMatchObject([
      { sessions: [{ id: '$1' }] },
      { ...done, note: 'it was cancelled' },
      { sessions: [], boot: null },
      { sessions: [], files: [], note: null },
    ]);
  });

  test('is written down in the state directory of the environment when nobody names one', async () => {
    vi.stubEnv('XDG_STATE_HOME', sandbox.path('state'));
    const run = async () => ({ outcomes: [], durationMs: 1 });
    const act = { system, by: 'clean', why: '', plan: planOf([]), run } as const;
    expect(await executeWith(act)).toMatchObject({ warnings: [], audited: true });
    expect(log()).toHaveLength(2);
    // A directory that is known not to be there is not looked for elsewhere.
    expect(await executeWith({ ...act, directory: null })).toMatchObject({
      status: 'done',
      warnings: [expect.stringContaining('no lock'), expect.stringContaining('the audit log is off')],
      audited: false,
    });
    expect(log()).toHaveLength(2);
  });

  test('says that its log could not be put aside, and is written down all the same', async () => {
    const full = { event: 'outcome', id: 'old', pad: 'x'.repeat(4 * 1024 ** 2) };
    sandbox.write('state/reaptop/audit.jsonl', `${JSON.stringify(full)}\n`, 0o600);
    mkdirSync(join(directory, 'audit.1.jsonl/in-the-way'), { recursive: true });
    mkdirSync(join(directory, 'audit.2.jsonl/in-the-way'), { recursive: true });
    const run = async () => ({ outcomes: [], durationMs: 1 });
    expect(
      await executeWith({ system, by: 'clean', why: 'x', plan: planOf([]), directory, run }),
    ).toMatchObject({
      warnings: [expect.stringContaining('could not be rotated')],
      audited: true,
    });
    expect(log()).toHaveLength(3);
  });

  test('goes on where nothing can be written, with one warning for each', async () => {
    const done = await executeWith({
      system,
      by: 'clean',
      why: '',
      plan: planOf([victim()]),
      directory: '/proc/reaptop',
      run: async () => ({ outcomes: [], durationMs: 0 }),
    });
    expect(done).toMatchObject({ status: 'done', audited: false });
    expect(done.status === 'done' && done.warnings).toEqual([
      expect.stringContaining('no lock against a second clean-up'),
      expect.stringContaining('the audit log'),
    ]);
  });
});

describe('an act that was cut off', () => {
  /** Its intent, written by a process that is no more. */
  const cutOff = async (
    targets: readonly { pid: number; start: string }[],
    writer: { pid: number; start: string },
    boot: string | null = 'b1',
  ) => {
    const asWriter = {
      ...system,
      presence: (pid: number) =>
        pid === process.pid
          ? { status: 'present' as const, identity: writer, state: 'S', ppid: 1, rss: 0, pgid: 1, sid: 1 }
          : system.presence(pid),
    };
    const plan = planOf(targets.map(target => ({ ...target, subject })));
    await executeWith({
      system: asWriter,
      by: 'tui',
      why: 'x',
      plan,
      boot,
      directory,
      // Never comes back, as after kill -9; but the lock would be held by a process that is gone.
      run: () => Promise.reject(new Error('killed')),
    }).catch(() => {});
    const file = join(directory, 'audit.jsonl');
    const [intent] = readFileSync(file, 'utf8').split('\n');
    rmSync(file);
    sandbox.write('state/reaptop/audit.jsonl', `${intent}\n`, 0o600);
  };
  const DEAD = { pid: 4_000_000, start: '1' };

  test('is completed by the next one, from what is found', async () => {
    const lives = victim();
    const gone = { pid: 4_000_001, start: '2' };
    await cutOff([lives, gone], DEAD);
    await completeEarlierActs(system, 'clean', 'b1', directory);
    const [intent, outcome] = log();
    expect(outcome).toMatchObject({
      event: 'outcome',
      id: intent?.id,
      by: 'tui',
      outcomes: [
        { ...lives, ...subject, outcome: 'survived', freed: 0 },
        { ...gone, ...subject, outcome: 'gone', freed: 0 },
      ],
      completedBy: { pid: process.pid, by: 'clean' },
    });
    await completeEarlierActs(system, 'clean', 'b1', directory);
    expect(log()).toHaveLength(2);
    expect(locked()).toBe(false);
  });

  test('is completed before the intent of the next act', async () => {
    await cutOff([DEAD], DEAD);
    const run = async () => ({ outcomes: [], durationMs: 0 });
    await executeWith({ system, by: 'clean', why: '', plan: planOf([]), directory, run });
    expect(log().map(line => line.event)).toEqual(['intent', 'outcome', 'intent', 'outcome']);
    expect(log()[1]?.id).toBe(log()[0]?.id);
  });

  test('before a reboot has left nobody, whoever has the same numbers now', async () => {
    const lives = victim();
    await cutOff([lives], lives, 'b0');
    await completeEarlierActs(system, 'clean', 'b1', directory);
    expect(log()[1]).toMatchObject({ outcomes: [{ ...lives, outcome: 'gone' }] });
  });

  test('before a reboot is completed so by the next act, too', async () => {
    const lives = victim();
    await cutOff([lives], lives, 'b0');
    const run = async () => ({ outcomes: [], durationMs: 0 });
    await executeWith({ system, by: 'clean', why: '', plan: planOf([]), boot: 'b1', directory, run });
    expect(log()[1]).toMatchObject({ outcomes: [{ ...lives, outcome: 'gone' }] });
  });

  test('is left to whoever acts at this moment', async () => {
    await cutOff([DEAD], DEAD, 'b1');
    const file = join(directory, 'audit.jsonl');
    const intent = readFileSync(file);
    await executeWith({
      system,
      by: 'clean',
      why: '',
      plan: planOf([]),
      directory,
      run: async () => {
        writeFileSync(file, intent);
        await completeEarlierActs(system, 'guard', 'b1', directory);
        expect(log()).toHaveLength(1);
        expect(locked()).toBe(true);
        return { outcomes: [], durationMs: 0 };
      },
    });
  });

  test('is left to somebody who can say who they are', async () => {
    await cutOff([DEAD], DEAD);
    const nameless = {
      ...system,
      presence: (pid: number) =>
        pid === process.pid ? { status: 'unreadable' as const, why: 'hidden' } : system.presence(pid),
    };
    await completeEarlierActs(nameless, 'clean', 'b1', directory);
    expect(log()).toHaveLength(1);
  });

  test('is not cut off while its writer lives', async () => {
    await cutOff([DEAD], victim());
    await completeEarlierActs(system, 'clean', 'b1', directory);
    expect(log()).toHaveLength(1);
  });
});
