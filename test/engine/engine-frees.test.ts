import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { FixWay, Plan } from '../../src/model/plan.ts';
import type { JudgedProcess, Snapshot } from '../../src/model/snapshot.ts';
import { DONE, FAILED, ScriptedTmux } from '../act/tmux/scripted-tmux.ts';
import { AGENT, type HungCall, LEAN, SERVER, withHungCall } from '../support/hung-call.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';
import { type Row, tmux } from '../support/world.ts';
import { hurry, linesOf, NO_RECORDS, Stage } from './stage.ts';

let sandbox: Sandbox;
let directory: string;
beforeEach(() => {
  sandbox = new Sandbox();
  directory = sandbox.path('state');
  hurry();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await sandbox.close();
});

const stageOf = (call: HungCall = {}, env: NodeJS.ProcessEnv = {}): Stage =>
  new Stage({ directory, env }).show(withHungCall(call));

/** What a user who reads the finding would get. */
const planned = (stage: Stage, way?: FixWay): Promise<Plan> => {
  const finding = stage.moment().findings.find(({ action }) => action === 'free-call')!;
  return stage.engine.plan({ act: 'fix', finding, way }, { by: 'tui' });
};
/** What guard makes of it: a plan of its own, from a sample of a while ago. */
const byPolicy = async (stage: Stage): Promise<Plan> => ({ ...(await planned(stage, 'end')) });

/** The agent as it is after this many samples, counted from now. */
const becomes = (stage: Stage, after: number, part: (p: JudgedProcess) => Partial<JudgedProcess>): void => {
  const before = stage.shown([]);
  const begun = stage.looks.length;
  stage.shown = () => {
    if (stage.looks.length - begun <= after) return before;
    return {
      ...before,
      processes: before.processes.map(p => (p.facts.pid === AGENT ? { ...p, ...part(p) } : p)),
    };
  };
};
const calling = (ids: readonly string[] | undefined) => (p: JudgedProcess) => ({
  session: {
    ...p.session!,
    calls: ids === undefined ? undefined : p.session!.calls!.filter(call => ids.includes(call.id)),
  },
});
const CHORE = 'lean-lsp lean_diagnostic_messages of claude (1000)';
const OVER = { outcome: 'done', why: 'the call is over; the agent goes on' };
const PENDING = { outcome: 'failed', why: 'it is still pending after 5 s' };

describe('a hung call', () => {
  it('is freed by ending its server alone, and it is seen to it that the call is over', async () => {
    const stage = stageOf();
    const plan = await planned(stage);
    expect(stage.system.sent).toEqual([]);
    // The recheck of the plan and that of the signal, and a sample in which the agent has not noticed yet.
    becomes(stage, 5, calling([]));
    const done = await stage.execute(plan);
    expect(stage.system.sent).toEqual([`${SERVER} SIGTERM`]);
    expect(done.outcomes).toMatchObject([{ pid: SERVER, outcome: 'ended' }]);
    expect(done.otherOutcomes).toEqual([{ act: 'free-call', target: CHORE, ...OVER }]);
    expect(done.summary).toMatch(/1 ended.*, the call is over$/);
    expect(linesOf(directory, 'audit.jsonl')).toMatchObject([
      { event: 'intent', sessions: [{ act: 'free-call', target: CHORE }] },
      { event: 'outcome', sessions: [{ act: 'free-call', ...OVER }] },
    ]);
  });

  it('is planned from one sample, and planned once more from facts read anew before anything is signalled', async () => {
    const stage = stageOf();
    const plan = await planned(stage);
    expect(stage.looks).toMatchObject([{ all: true }]);
    expect(stage.looks[0]!.fresh).toBeUndefined();
    becomes(stage, 3, calling([]));
    await stage.execute(plan);
    expect(stage.looks[1]).toMatchObject({ all: true, fresh: true, sent: [] });
    expect(stage.looks[2]).toMatchObject({ all: true, fresh: true, closely: false, sent: [] });
  });

  it('that is over by now is left alone, and the plan is to be read again', async () => {
    const stage = stageOf();
    const plan = await planned(stage);
    stage.show(withHungCall({ seconds: 3 }));
    const done = await stage.execute(plan);
    const why = `read the plan again: lean-lsp-mcp (${SERVER}) may no longer be signalled: it is already resolved`;
    expect(stage.system.sent).toEqual([]);
    expect(done).toMatchObject({ summary: why, worse: [expect.any(String), expect.any(String)] });
    expect(done.outcomes).toMatchObject([{ pid: SERVER, outcome: 'refused', why }]);
    expect(done.otherOutcomes).toEqual([]);
    expect(stage.progress).toEqual([{ type: 'outcome', outcome: done.outcomes[0] }]);
  });

  it('that is over by now needs nobody who watches', async () => {
    const stage = stageOf();
    const plan = await planned(stage);
    stage.show(withHungCall({ seconds: 3 }));
    const done = await stage.execute(plan, { onProgress: undefined });
    expect(done.outcomes).toMatchObject([{ outcome: 'refused' }]);
  });

  it('that is still pending five seconds after its server ended is told of', async () => {
    const stage = stageOf();
    const begun = performance.now();
    const done = await stage.execute(await planned(stage));
    expect(done.otherOutcomes).toEqual([{ act: 'free-call', target: CHORE, ...PENDING }]);
    expect(stage.looks.every(({ all }) => all === true)).toBe(true);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(5000);
    expect(done.summary).toContain('1 left: it is still pending after 5 s');
  });

  it('another call of the agent is not waited for', async () => {
    const stage = stageOf();
    const plan = await planned(stage);
    becomes(stage, 3, p => ({
      session: { ...p.session!, calls: p.session!.calls!.map(call => ({ ...call, id: 'toolu_2' })) },
    }));
    expect((await stage.execute(plan)).otherOutcomes).toMatchObject([OVER]);
  });

  it.each([
    ['its log cannot be read', (p: JudgedProcess) => calling(undefined)(p)],
    ['nothing is known of its session', () => ({ session: null })],
    ['it has ended', (p: JudgedProcess) => ({ facts: { ...p.facts, start: 's9' } })],
  ])('is not said to be over where of its agent %s', async (_, part) => {
    const stage = stageOf();
    const plan = await planned(stage);
    becomes(stage, 3, part);
    expect((await stage.execute(plan)).otherOutcomes).toMatchObject([PENDING]);
  });

  it('is not looked after on an invented machine', async () => {
    const stage = stageOf();
    const plan = await planned(stage);
    Object.assign(stage.system, { inventedRecords: () => NO_RECORDS });
    const done = await stage.execute(plan);
    expect(done.otherOutcomes).toEqual([
      { act: 'free-call', target: CHORE, outcome: 'skipped', why: 'this machine is invented' },
    ]);
  });

  it('whose server became protected after it was planned is left, and not said to be over', async () => {
    const stage = stageOf();
    const plan = await planned(stage);
    const shown = stage.shown([]);
    stage.onLook = looks => {
      if (looks !== 2) return;
      stage.shown = () => ({
        ...shown,
        processes: shown.processes.map(p =>
          p.facts.pid === SERVER ? { ...p, protection: 'hard', protectedBecause: 'it is yours' } : p,
        ),
      });
    };
    const done = await stage.execute(plan);
    expect(stage.system.sent).toEqual([]);
    expect(done.worse).toEqual([expect.stringContaining('it is yours')]);
    expect(done.otherOutcomes).toEqual([]);
  });
});

const SECOND: Row = [1049, AGENT, 'context7-mcp'];

describe('a plan of a policy', () => {
  it('ends the server of a call that still hangs, and sees to it that it is over', async () => {
    const stage = stageOf();
    const plan = await byPolicy(stage);
    becomes(stage, 3, calling([]));
    const done = await stage.execute(plan, { by: 'guard' });
    expect(stage.looks[1]).toMatchObject({ all: true, fresh: true, sent: [] });
    expect(stage.system.sent).toEqual([`${SERVER} SIGTERM`]);
    expect(done.otherOutcomes).toEqual([{ act: 'free-call', target: CHORE, ...OVER }]);
  });

  it('does nothing for a call that came back meanwhile', async () => {
    const stage = stageOf();
    const plan = await byPolicy(stage);
    stage.show(withHungCall({ seconds: 3 }));
    const done = await stage.execute(plan, { by: 'guard' });
    expect(stage.system.sent).toEqual([]);
    expect(done).toMatchObject({ summary: '', stopped: null });
    expect([done.outcomes, done.otherOutcomes, done.worse, done.warnings]).toEqual([[], [], [], []]);
  });

  it('of two, leaves the server of the one that came back', async () => {
    const stage = stageOf({ rows: [LEAN, SECOND] });
    const plan = await byPolicy(stage);
    const [freed] = plan.frees!;
    const { facts } = stage.moment().processes.find(p => p.facts.pid === 1049)!;
    const other = { pid: facts.pid, start: facts.start };
    const both: Plan = {
      ...plan,
      steps: [...plan.steps, { ...plan.steps[0]!, ...other, root: other, name: 'context7' }],
      frees: [freed!, { ...freed!, server: other, calls: ['toolu_2'], what: 'the other' }],
    };
    becomes(stage, 3, calling([]));
    const done = await stage.execute(both, { by: 'guard' });
    expect(stage.system.sent).toEqual([`${SERVER} SIGTERM`]);
    expect(done.otherOutcomes).toEqual([{ act: 'free-call', target: CHORE, ...OVER }]);
  });

  it('of two calls, is not done before both are over', async () => {
    const stage = stageOf();
    const plan = await byPolicy(stage);
    const [freed] = plan.frees!;
    // The session itself goes on being busy.
    const both = { ...plan, frees: [freed!, { ...freed!, calls: [], what: 'the session' }] };
    becomes(stage, 3, calling([]));
    expect((await stage.execute(both)).otherOutcomes).toMatchObject([PENDING, PENDING]);
  });

  it.each([
    ['idle', OVER],
    ['waiting', OVER],
    ['busy', PENDING],
    [null, PENDING],
  ] as const)('that frees a session without a call looks at what it does: %s', async (doing, outcome) => {
    const stage = stageOf();
    const plan = await byPolicy(stage);
    const whole = { ...plan, frees: plan.frees!.map(freed => ({ ...freed, calls: [] })) };
    becomes(stage, 3, p => ({ session: { ...p.session!, doing } }));
    expect((await stage.execute(whole)).otherOutcomes).toMatchObject([outcome]);
  });

  it('promises nothing for a call of which no server is known', async () => {
    const stage = stageOf();
    const plan = await byPolicy(stage);
    const none = { ...plan, frees: plan.frees!.map(freed => ({ ...freed, server: null })) };
    becomes(stage, 3, calling([]));
    const done = await stage.execute(none);
    expect(done.otherOutcomes).toEqual([]);
    expect(stage.system.sent).toEqual([`${SERVER} SIGTERM`]);
  });

  it('with chores and nothing that it frees is not executed', async () => {
    const stage = stageOf();
    const { frees: _, ...plan } = await byPolicy(stage);
    await expect(stage.execute(plan)).rejects.toThrow('this plan was not made here');
    expect(stage.system.sent).toEqual([]);
  });
});

/** The agent in a pane that somebody looks at. */
const PANED: HungCall = {
  rows: [
    [900, 1, 'tmux: server', { comm: 'tmux: server' }],
    [AGENT, 900, 'claude', { born: 10, tty: 'pts/0', details: { cwd: '/home/me/proofs' } }],
    LEAN,
  ],
  tmux: [tmux(900, [AGENT])],
};

const ESCAPE = { act: 'send-escape', target: 'Escape to claude (1000) in tmux main %0' };

describe('Escape', () => {
  const never: readonly [string, (stage: Stage) => object, string][] = [
    ['after it was cancelled', () => ({ signal: AbortSignal.abort() }), 'it was cancelled'],
    [
      'on a table that is only shown',
      ({ system }) => {
        system.readOnly = 'a recorded table';
        return {};
      },
      'a recorded table',
    ],
    [
      'on an invented machine',
      ({ system }) => {
        Object.assign(system, { inventedRecords: () => NO_RECORDS });
        return {};
      },
      'this machine is invented: nothing was run',
    ],
  ];

  it.each(never)('is not pressed %s', async (_, prepare, why) => {
    const stage = stageOf(PANED);
    const plan = await planned(stage, 'interrupt');
    const done = await stage.execute(plan, prepare(stage));
    expect(done.otherOutcomes).toEqual([{ ...ESCAPE, outcome: 'skipped', why }]);
    expect(done).toMatchObject({ summary: `1 left: ${why}`, outcomes: [] });
  });

  it('that the pane does not take is not said to have been pressed', async () => {
    const scripted = new ScriptedTmux(sandbox);
    scripted.answers(DONE('/dev/pts/0 1 0 0 0'));
    const stage = stageOf(PANED, { PATH: scripted.PATH });
    const done = await stage.execute(await planned(stage, 'interrupt'));
    const why = 'the pane is in copy mode: leave that first';
    expect(done.otherOutcomes).toEqual([{ ...ESCAPE, outcome: 'skipped', why }]);
    expect(scripted.asked()).toHaveLength(1);
  });
});

/** The same machine, where the agent is a process that runs here, in front in a pane of the sandbox's tmux. */
const inRealPane = (): { readonly shown: Snapshot; readonly screen: () => string; readonly pid: number } => {
  const format = '#{pane_pid} #{pane_tty} #{socket_path}';
  const told = sandbox.tmux('new-session', '-d', '-P', '-F', format, '-s', 'main', 'exec cat');
  const [word = '', device = '', socket = ''] = told.split(' ');
  const [pid, tty] = [Number(word), device.replace('/dev/', '')];
  const snapshot = withHungCall(PANED);
  const named = <T extends { readonly pid: number }>(one: T): T =>
    one.pid === AGENT ? { ...one, pid } : one;
  const shown: Snapshot = {
    ...snapshot,
    findings: snapshot.findings.map(finding => ({ ...finding, processes: finding.processes.map(named) })),
    tmux: snapshot.tmux.map(server => ({
      ...server,
      socket,
      panes: server.panes.map(pane => ({ ...named(pane), tty, socket })),
    })),
    processes: snapshot.processes.map(p => {
      const { facts } = p;
      if (facts.pid !== AGENT)
        return { ...p, facts: { ...facts, ppid: facts.ppid === AGENT ? pid : facts.ppid } };
      return { ...p, facts: { ...facts, pid, tty }, tmux: { ...p.tmux!, socket } };
    }),
  };
  return { shown, screen: () => sandbox.tmux('capture-pane', '-p', '-t', '=main:'), pid };
};

describe('Escape in a real pane', () => {
  it.each([
    ['over, the agent goes on', [], OVER],
    ['not over after that', undefined, PENDING],
  ])(
    'is pressed there, nobody is signalled, and it is told when the call is %s',
    async (_, left, outcome) => {
      const { shown, screen, pid } = inRealPane();
      const stage = new Stage({ directory, env: sandbox.env }).show(shown);
      const plan = await planned(stage, 'interrupt');
      stage.shown = () =>
        stage.looks.length < 3
          ? shown
          : {
              ...shown,
              processes: shown.processes.map(p => (p.facts.pid === pid ? { ...p, ...calling(left)(p) } : p)),
            };
      const done = await stage.execute(plan);
      expect(stage.system.sent).toEqual([]);
      expect(done.outcomes).toEqual([]);
      expect(done.otherOutcomes).toEqual([
        { ...ESCAPE, target: `Escape to claude (${pid}) in tmux main %0`, ...outcome },
      ]);
      // As the terminal echoes it.
      await until('the key', () => screen().includes('^['));
      expect(linesOf(directory, 'audit.jsonl')).toMatchObject([
        { event: 'intent', sessions: [{ act: 'send-escape' }] },
        { event: 'outcome', sessions: [{ act: 'send-escape', ...outcome }] },
      ]);
    },
  );

  it('that tmux does not send has failed', async () => {
    const { shown } = inRealPane();
    const tty = shown.tmux[0]!.panes[0]!.tty;
    const scripted = new ScriptedTmux(sandbox);
    scripted.answers(DONE(`/dev/${tty} 0 0 0 0`), FAILED);
    const stage = new Stage({ directory, env: { PATH: scripted.PATH } }).show(shown);
    const done = await stage.execute(await planned(stage, 'interrupt'));
    expect(done.otherOutcomes).toMatchObject([{ outcome: 'failed', why: 'tmux did not send the key' }]);
  });
});
