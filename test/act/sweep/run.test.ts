import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { identityOfInode } from '../../../src/act/held-directory.ts';
import { executeSweep } from '../../../src/act/sweep/execute-sweep.ts';
import { type FileRecord, runFileAct } from '../../../src/act/sweep/file-acts.ts';
import type { FileAct, SessionAct, SweepPlan } from '../../../src/judge/plan/sweep-plan.ts';
import { keyOf } from '../../../src/model/identity.ts';
import { invent, machine as judged } from '../../judge/plan/machine.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { FakeSystem, planOf } from '../fake-system.ts';
import { DONE, FAILED, HUNG, ScriptedTmux } from '../tmux/scripted-tmux.ts';

let sandbox: Sandbox;
let machine: FakeSystem;
let tmux: ScriptedTmux;
beforeEach(() => {
  sandbox = new Sandbox();
  machine = new FakeSystem();
  tmux = new ScriptedTmux(sandbox);
  tmux.answers();
});
afterEach(() => sandbox.close());

const actOn = (name: string, act: FileAct['act'] = 'delete', part: Partial<FileAct> = {}): FileAct => {
  const path = sandbox.write(`work/${name}`, 'x'.repeat(10));
  const stat = statSync(path);
  const to = act === 'archive' ? sandbox.path('work/archive') : null;
  return {
    act,
    path,
    to,
    toWithin: to === null ? null : identityOfInode(statSync(dirname(to))),
    root: sandbox.path('work'),
    bytes: 10,
    why: `${name} is left over`,
    agent: null,
    seen: {
      mtimeMs: stat.mtimeMs,
      size: stat.size,
      file: identityOfInode(stat),
      directory: identityOfInode(statSync(dirname(path))),
    },
    ...part,
  };
};
const sessionOf = (agent: string, pid: number): SessionAct => ({
  agent,
  socket: '/t/sock',
  sessionId: `$${pid}`,
  session: `agent_${agent}`,
  processes: [keyOf({ pid, start: `s${pid}` })],
  why: `${agent} is done`,
});

describe('one act on one file', () => {
  test('removes it, or moves it into an archive that is made for it', () => {
    const removed = actOn('prompt');
    expect(runFileAct(removed)).toEqual({
      act: 'delete',
      path: removed.path,
      to: null,
      bytes: 10,
      outcome: 'done',
      why: 'prompt is left over',
    });
    const record = runFileAct(actOn('log', 'archive'), Date.UTC(2026, 0, 2, 3, 4, 5));
    expect(record).toMatchObject({
      outcome: 'done',
      bytes: 10,
      to: sandbox.path('work/archive/log.archived-20260102T030405Z'),
    });
    expect(existsSync(record.to!)).toBe(true);
    expect(readdirSync(sandbox.path('work'))).toEqual(['archive']);
  });

  test.each<[string, (act: FileAct) => Partial<FileAct> | undefined, string, string]>([
    ['is gone', act => void renameSync(act.path, `${act.path}.old`), 'gone', 'it was already gone'],
    [
      'has grown',
      act => void writeFileSync(act.path, 'more'),
      'skipped',
      'it changed after the plan was made',
    ],
    ['has another size', ({ seen }) => ({ seen: { ...seen, size: 9 } }), 'skipped', 'it changed after'],
    ['has another time', ({ seen }) => ({ seen: { ...seen, mtimeMs: 9 } }), 'skipped', 'it changed after'],
    ['is another', ({ seen }) => ({ seen: { ...seen, file: '1:1' } }), 'skipped', 'it changed after'],
    [
      'is elsewhere',
      ({ seen }) => ({ seen: { ...seen, directory: '1:1' } }),
      'skipped',
      'its directory was replaced',
    ],
    [
      'has no root',
      () => ({ root: sandbox.path('none'), path: sandbox.path('none/log') }),
      'gone',
      'it was already gone',
    ],
    [
      'lies in a file',
      act => ({ path: `${act.path}/log` }),
      'skipped',
      'is a symbolic link or not a directory',
    ],
    [
      'became a link',
      act => {
        renameSync(act.path, `${act.path}.old`);
        symlinkSync(`${act.path}.old`, act.path);
      },
      'skipped',
      'it is a symbolic link',
    ],
    ['has an archive elsewhere', () => ({ toWithin: '1:1' }), 'skipped', 'was replaced'],
    [
      'has an archive that is a file',
      () => void sandbox.write('work/archive', ''),
      'skipped',
      'not a directory',
    ],
  ])('leaves one alone that %s', (_, change, outcome, why) => {
    const act = actOn('log', 'archive');
    const record = runFileAct({ ...act, ...change(act) });
    expect(record).toMatchObject({ outcome, to: null, bytes: 0, why: expect.stringContaining(why) });
  });

  test('fails where the file system says so', () => {
    const record = runFileAct(actOn('x'.repeat(250), 'archive'));
    expect(record).toMatchObject({ outcome: 'failed', why: expect.stringContaining('ENAMETOOLONG') });
  });

  test('says so when it comes back at once', () => {
    const act = actOn('log');
    const { path } = act;
    // Whoever reads why it is done is told, and writes again: the record asks for it last.
    const stubborn = {
      ...act,
      get seen() {
        return act.seen;
      },
      get path() {
        if (!existsSync(path)) writeFileSync(path, 'back');
        return path;
      },
    };
    expect(runFileAct(stubborn)).toMatchObject({ outcome: 'failed', why: 'it came back at once', bytes: 0 });
  });
});

describe('a sweep', () => {
  const sweep = (plan: Partial<SweepPlan>, fresh: Partial<SweepPlan> = plan, quiet = false) => {
    const whole = (part: Partial<SweepPlan>): SweepPlan => ({
      ending: planOf([]),
      sessions: [],
      files: [],
      refused: [],
      archivedBytes: 0,
      freedBytes: 0,
      ...part,
    });
    const seen: string[] = [];
    return executeSweep({
      system: machine,
      plan: whole(plan),
      env: { LC_ALL: 'C', HOME: '/home/me', PATH: tmux.PATH },
      graceMs: 10,
      resample: async () => judged(...[10, 20].filter(pid => machine.has(pid)).map(pid => invent(pid, 1))),
      replan: async () => whole(fresh),
      ...(quiet ? {} : { onFile: (record: FileRecord) => seen.push(record.path) }),
    }).then(result => ({ ...result, seen }));
  };

  test('counts what went to archives and what was given back, and tells of each file', async () => {
    const files = [
      actOn('log', 'archive'),
      actOn('prompt', 'delete', { bytes: 3 }),
      actOn('lock', 'remove', { bytes: 4 }),
    ];
    const before = performance.now();
    const result = await sweep({ files });
    expect(result).toMatchObject({
      archivedBytes: 10,
      freedBytes: 7,
      outcomes: [],
      sessions: [],
      warnings: [],
    });
    expect(result.seen).toEqual(files.map(({ path }) => path));
    expect(result.durationMs).toBeLessThanOrEqual(performance.now() - before);
  });

  test('leaves a file alone that would not be planned again', async () => {
    const files = [actOn('lock', 'remove')];
    const result = await sweep({ files }, {}, true);
    expect(result.files).toEqual([
      {
        act: 'remove',
        path: files[0]!.path,
        to: null,
        bytes: 0,
        outcome: 'skipped',
        why: 'it is no longer what was planned for',
      },
    ]);
    expect(lstatSync(files[0]!.path).size).toBe(10);
  });

  test('ends the processes of an agent, then its session, then clears its files', async () => {
    const ending = planOf([machine.add(10, 1)]);
    const files = [actOn('log', 'archive', { agent: 'a' })];
    tmux.answers(DONE('agent_a\t%1'), DONE(''));
    const result = await sweep({ ending, sessions: [sessionOf('a', 10)], files });
    expect(machine.sent).toEqual(['10 SIGTERM']);
    expect(result.outcomes).toMatchObject([{ outcome: 'ended' }]);
    expect(result.sessions).toEqual([{ session: 'agent_a', agent: 'a', outcome: 'ended', why: 'a is done' }]);
    expect(result.files).toMatchObject([{ outcome: 'done' }]);
    // tmux prints separators as `_` in a C locale.
    expect(tmux.environ(0)).toMatchObject({ LC_ALL: 'C.UTF-8', HOME: '/home/me' });
  });

  test('leaves the session and the files of one alone whose process cannot be ended, and of no other', async () => {
    const ending = planOf([machine.add(10, 1), machine.add(20, 1)]);
    machine.denied.add(10);
    const files = [actOn('log', 'archive', { agent: 'a' }), actOn('log2', 'archive', { agent: 'b' })];
    tmux.answers(DONE('agent_b\t%1'), DONE(''));
    const plan = {
      ending: { ...ending, steps: ending.steps.map(step => ({ ...step, root: step })) },
      sessions: [sessionOf('a', 10), sessionOf('b', 20)],
      files,
    };
    const result = await sweep(plan);
    const why = 'p10 (10) denied: the system does not permit SIGTERM to it (EPERM)';
    expect(result.sessions).toMatchObject([{ outcome: 'skipped', why }, { outcome: 'ended' }]);
    expect(result.files).toMatchObject([{ outcome: 'skipped', why }, { outcome: 'done' }]);
    expect(tmux.asked()).toHaveLength(2);
  });

  test.each([
    ['is gone', [FAILED], 'gone', 'done'],
    ['cannot be asked for', [HUNG], 'failed', 'skipped'],
    ['is another by now', [DONE('mine\t%1')], 'refused', 'skipped'],
  ])('clears the files of an agent whose session %s: %s', async (_, script, session, file) => {
    tmux.answers(...script);
    const files = [actOn('log', 'archive', { agent: 'a' })];
    const result = await tmux.outcome(() =>
      sweep({ sessions: [{ ...sessionOf('a', 10), processes: [] }], files }),
    );
    expect([result.sessions[0]?.outcome, result.files[0]?.outcome]).toEqual([session, file]);
  });

  test('touches nothing of an agent whose session is not planned again', async () => {
    const ending = planOf([machine.add(10, 1)]);
    const files = [actOn('log', 'archive', { agent: 'a' })];
    mkdirSync(sandbox.path('work/archive'));
    const result = await sweep({ ending, sessions: [sessionOf('a', 10)], files }, { files });
    expect(machine.sent).toEqual([]);
    expect(result.sessions).toMatchObject([{ outcome: 'skipped' }]);
    expect(result.files).toMatchObject([{ outcome: 'skipped' }]);
    expect(tmux.asked()).toEqual([]);
  });
});
