import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RememberedSession } from '../../src/model/asleep.ts';
import { EMPTY_PLAN } from '../../src/model/plan.ts';
import { readRemembered } from '../../src/remember/asleep.ts';
import { DONE, FAILED, ScriptedTmux } from '../act/tmux/scripted-tmux.ts';
import { claude, ID, IDLE } from '../judge/plan/idle-session.ts';
import { HOUSE, invent, snapshotOf } from '../judge/plan/machine.ts';
import { AT_PROMPT } from '../support/idle-agent.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';
import { tmux } from '../support/world.ts';
import { hurry, linesOf, NO_RECORDS, Stage } from './stage.ts';

let sandbox: Sandbox;
let directory: string;
let scripted: ScriptedTmux;
beforeEach(() => {
  sandbox = new Sandbox();
  directory = sandbox.path('state');
  scripted = new ScriptedTmux(sandbox);
  scripted.answers();
  // A new shell that is at its prompt at once.
  sandbox.write('bin/stty', '#!/bin/sh\necho "-icanon -echo"\n', 0o755);
  vi.stubEnv('PATH', `${sandbox.path('bin')}:${process.env.PATH}`);
  hurry();
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await sandbox.close();
});

const SOCKET = '/tmp/tmux-1000/default';
const RESUME = `claude --resume ${ID}`;
/** It slept in a pane that is gone; its tmux session is still there. */
const SESSION: RememberedSession = {
  pid: 1000,
  start: 's1000',
  agent: 'claude',
  id: ID,
  project: 'proofs',
  name: 'fix the lemma',
  cwd: '/home/me/proofs',
  tmux: { socket: SOCKET, session: 'main', pane: '%9', server: 4000 },
  bytes: 0,
  resume: RESUME,
  boot: null,
  registry: null,
  state: 'asleep',
  at: 0,
};
const CHORE = { act: 'wake', target: `claude ${ID}` };

const stageOf = (): Stage => {
  const stage = new Stage({ directory, env: { PATH: scripted.PATH } });
  stage.shown = put => snapshotOf([...HOUSE, ...put], { tmux: [tmux(4000, [4001])] });
  return stage;
};
const wakes = (stage: Stage, { run = false, session = SESSION, ...options } = {}) =>
  stage.execute(stage.engine.planWake(session, run), { by: 'wake', ...options });

const WINDOW = DONE('%7 /dev/pts/999\n');
const WHERE = 'in tmux main %7, a new window';
const NEW_WINDOW = `-u -S ${SOCKET} new-window -P -F #{pane_id} #{pane_tty} -t $0: -c /home/me/proofs`;
const TYPED = `-u -S ${SOCKET} send-keys -t %7 -l -- ${RESUME}`;

it.each([
  [false, 'its command is typed; you press Enter'],
  [true, 'its command is entered'],
])('the plan says what is typed and who enters it (%s), and nothing else', (run, how) => {
  const plan = stageOf().engine.planWake(SESSION, run);
  expect(plan).toEqual({ ...EMPTY_PLAN, otherSteps: [{ ...CHORE, why: `${how}: ${RESUME}` }] });
  expect(scripted.asked()).toEqual([]);
});

describe('a session', () => {
  it('has its command typed into a new window of its tmux session, where its user enters it', async () => {
    scripted.answers(WINDOW, DONE(''));
    const stage = stageOf();
    const done = await wakes(stage);
    const why = `typed ${WHERE}: press Enter there`;
    expect(scripted.asked()).toEqual([NEW_WINDOW, TYPED]);
    expect(done.otherOutcomes).toEqual([{ ...CHORE, outcome: 'done', why }]);
    expect(done).toMatchObject({ summary: why, outcomes: [], warnings: [], worse: [], stopped: null });
    expect(stage.looks).toMatchObject([{ all: true, fresh: true }]);
    expect(linesOf(directory, 'audit.jsonl')).toMatchObject([
      { event: 'intent', by: 'wake', sessions: [CHORE] },
      { event: 'outcome', sessions: [{ ...CHORE, outcome: 'done', why }] },
    ]);
    expect(readRemembered(directory)).toEqual([]);
  });

  it('that is entered is remembered as running once its agent is seen', async () => {
    scripted.answers(WINDOW, DONE(''), DONE(''));
    const stage = stageOf();
    // Another session that runs is not it.
    const other = claude({ session: { ...IDLE, id: '5d1f0c3e-1111-4222-8333-444455557777' } });
    stage.put({ ...other, facts: { ...other.facts, pid: 1002, start: 's1002' } });
    stage.onLook = looks => {
      if (looks === 3) stage.put(claude());
    };
    const begun = performance.now();
    const done = await wakes(stage, { run: true });
    expect(scripted.asked()).toEqual([NEW_WINDOW, TYPED, `-u -S ${SOCKET} send-keys -t %7 Enter`]);
    expect(done.otherOutcomes).toMatchObject([{ outcome: 'done', why: `awake as claude (1000) ${WHERE}` }]);
    expect(readRemembered(directory)).toMatchObject([{ id: ID, state: 'running', pid: 1000 }]);
    expect(stage.looks).toHaveLength(4);
    expect(stage.looks.every(({ all, fresh }) => all === true && fresh === true)).toBe(true);
    expect(performance.now() - begun).toBeLessThan(15_000);
  });

  it('that has not registered after twenty seconds was started, and no more is said', async () => {
    scripted.answers(WINDOW, DONE(''), DONE(''));
    const begun = performance.now();
    const done = await wakes(stageOf(), { run: true });
    expect(performance.now() - begun).toBeGreaterThanOrEqual(20_000);
    expect(done.otherOutcomes).toMatchObject([
      { outcome: 'done', why: `started ${WHERE}; it has not registered yet` },
    ]);
    expect(readRemembered(directory)).toEqual([]);
  });

  it('that runs already is not started twice', async () => {
    const stage = stageOf().put(claude());
    const done = await wakes(stage, { run: true });
    expect(done.otherOutcomes).toEqual([
      { ...CHORE, outcome: 'gone', why: 'it runs already: claude (1000)' },
    ]);
    expect(scripted.asked()).toEqual([]);
  });

  it('is brought back by hand where there is no tmux', async () => {
    const done = await wakes(stageOf(), { session: { ...SESSION, tmux: null } });
    const why = 'there is no tmux session to type it into (its pane is gone)';
    expect(done.otherOutcomes).toEqual([{ ...CHORE, outcome: 'skipped', why }]);
    expect(done.summary).toBe(why);
  });

  it('that tmux gives no window has failed', async () => {
    scripted.answers(FAILED);
    const done = await wakes(stageOf(), { run: true });
    expect(done.otherOutcomes).toMatchObject([{ outcome: 'failed', why: 'tmux did not open a window' }]);
  });

  it.each([
    ['after it was cancelled', {}, { signal: AbortSignal.abort() }, 'it was cancelled'],
    ['on a table that is only shown', { readOnly: 'a recorded table' }, {}, 'a recorded table'],
    [
      'on an invented machine',
      { inventedRecords: () => NO_RECORDS },
      {},
      'this machine is invented: nothing was run',
    ],
  ])('is not brought back %s', async (_, facts, options, why) => {
    const stage = stageOf();
    Object.assign(stage.system, facts);
    const done = await wakes(stage, { run: true, ...options });
    expect(done.otherOutcomes).toEqual([{ ...CHORE, outcome: 'skipped', why }]);
    expect([scripted.asked(), stage.looks]).toEqual([[], []]);
  });

  it('is not brought back by an engine that did not plan it', async () => {
    const plan = stageOf().engine.planWake(SESSION, true);
    await expect(stageOf().execute(plan)).rejects.toThrow('this plan was not made here');
    expect(scripted.asked()).toEqual([]);
  });
});

it('a session whose shell is at its prompt is typed where it was', async () => {
  const format = '#{pane_pid} #{pane_tty} #{pane_id} #{socket_path} #{pid}';
  const told = sandbox.tmuxWith(
    { PS1: '$ ' },
    'reaptop-test',
    ...['new-session', '-d', '-P', '-F', format, '-s', 'main', '-x', '150', '-y', '30'],
    'exec bash --norc --noprofile',
  );
  const [pid = '', device = '', pane = '', socket = '', server = ''] = told.split(' ');
  const tty = device.replace('/dev/', '');
  const screen = (): string => sandbox.tmux('capture-pane', '-p', '-t', '=main:');
  await until('the shell', () => AT_PROMPT.test(screen().trimEnd()));
  const group = { pgid: Number(pid), sid: Number(pid) };
  const bash = invent(Number(pid), 1, {
    kind: 'shell',
    name: 'bash',
    facts: { ...group, tty, argv: ['bash', '--norc', '--noprofile'] },
  });
  const [known] = tmux(Number(server), [Number(pid)]).panes;
  const stage = new Stage({ directory, env: sandbox.env }).put(bash);
  stage.shown = put =>
    snapshotOf([...HOUSE, ...put], {
      tmux: [{ ...tmux(Number(server), []), socket, panes: [{ ...known!, socket, pane, tty }] }],
    });
  const back = { ...SESSION, tmux: { socket, session: 'main', pane, server: Number(server) } };
  const done = await wakes(stage, { session: back });
  expect(done.otherOutcomes).toMatchObject([
    { outcome: 'done', why: `typed in tmux main ${pane}, where it was: press Enter there` },
  ]);
  await until('the command', () => screen().includes(`cd /home/me/proofs && ${RESUME}`));
});
