import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { basename } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { executeSweep, type SweepResult } from '../../../src/act/sweep/execute-sweep.ts';
import { archivedName, type SweepPlan } from '../../../src/judge/plan/sweep-plan.ts';
import { isRunning } from '../../support/proc.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';
import {
  archivedNames,
  type Files,
  pipeline,
  type Sweeper,
  sweeper,
  TASK,
  writeAgent,
  writeRegistry,
} from './orchestrator.ts';

describe('sweep', () => {
  let sandbox: Sandbox;
  let reaptop: Sweeper;
  beforeEach(() => {
    sandbox = new Sandbox();
    reaptop = sweeper(sandbox);
  });
  afterEach(async () => {
    reaptop.system.close();
    await sandbox.close();
  });

  const run = (plan: SweepPlan): Promise<SweepResult> =>
    executeSweep({
      plan,
      system: reaptop.system,
      env: sandbox.env,
      graceMs: 3000,
      replan: reaptop.replan,
      resample: () => reaptop.collector.collect({ all: true }),
    });
  const archive = (): string[] => archivedNames(sandbox.path(TASK, 'archive'));
  const sessions = (): string[] => sandbox.tmux('list-sessions', '-F', '#{session_name}').split('\n').sort();
  const start = (id: string): void => {
    sandbox.tmux('new-session', '-d', '-s', `agent_${id}`, pipeline(sandbox));
  };

  it('clears ten finished agents, four of them with a session, and leaves the running one alone', async () => {
    const ids = Array.from({ length: 10 }, (_, i) => `tester-22544${i}-dfe9d${i}`);
    const files = new Map<string, Files>(ids.map(id => [id, writeAgent(sandbox, id, { finished: true })]));
    const working = writeAgent(sandbox, 'worker-1-2', { finished: false, ageSeconds: 5 });
    const registry = writeRegistry(sandbox, {
      ...Object.fromEntries(ids.map(id => [id, 'completed'])),
      'worker-1-2': 'running',
    });
    const before = readFileSync(registry, 'utf8');
    for (const id of [...ids.slice(0, 4), 'worker-1-2']) start(id);
    sandbox.tmux('new-session', '-d', '-s', `agent_${ids[4]}-not-mine`, pipeline(sandbox));

    const plan = await reaptop.plan();
    expect(plan.refused).toEqual([]);
    expect(plan.sessions.map(s => s.agent).sort()).toEqual(ids.slice(0, 4));
    expect(plan.files).toHaveLength(50);
    expect(plan.archivedBytes).toBeGreaterThan(0);
    // Planning is a dry run: nothing happened.
    expect([archive(), sessions()]).toEqual([[], expect.arrayContaining([`agent_${ids[0]}`])]);

    const result = await run(plan);
    expect(result.files.every(file => file.outcome === 'done')).toBe(true);
    expect(result.sessions.every(s => s.outcome === 'ended' || s.outcome === 'gone')).toBe(true);
    expect(result.archivedBytes).toBe(plan.archivedBytes);
    expect(result.freedBytes).toBe(plan.freedBytes);
    expect(sessions()).toEqual([`agent_${ids[4]}-not-mine`, 'agent_worker-1-2'].sort());
    expect(archive()).toEqual(
      [...files.values()]
        .flatMap(f => [f.stream, f.progress, f.findings, f.deploy].map(path => basename(path)))
        .sort(),
    );
    for (const f of files.values()) for (const path of Object.values(f)) expect(existsSync(path)).toBe(false);
    for (const path of Object.values(working)) expect(existsSync(path)).toBe(true);
    expect(readFileSync(registry, 'utf8')).toBe(before);
    for (const outcome of result.outcomes) expect(isRunning(outcome.pid, outcome.start)).toBe(false);

    const again = await reaptop.plan();
    expect([again.files, again.sessions, again.ending.steps]).toEqual([[], [], []]);
  });

  it('does not touch an agent whose session somebody looks at', async () => {
    const files = writeAgent(sandbox, 'a-1', { finished: true });
    start('a-1');
    sandbox.start(['script', '-qfc', 'tmux -L reaptop-test attach -t =agent_a-1', '/dev/null'], {
      env: { TERM: 'xterm-256color' },
      detached: true,
    });
    await until('the client to be attached', () => sandbox.tmux('list-clients') !== '');
    const plan = await reaptop.plan();
    expect([plan.files, plan.sessions, plan.ending.steps]).toEqual([[], [], []]);
    expect(plan.refused).toEqual([{ what: 'agent a-1', why: expect.stringContaining('attached') }]);
    expect(existsSync(files.prompt)).toBe(true);
  });

  it('does not touch an agent whose log grows, before or after the plan', async () => {
    const files = writeAgent(sandbox, 'a-1', { finished: true });
    start('a-1');
    const growing = reaptop.plan({ watchMs: 200 });
    const timer = setInterval(() => appendFileSync(files.progress, '{"status":"working"}\n'), 10);
    const plan = await growing;
    clearInterval(timer);
    expect(plan.refused).toEqual([{ what: 'agent a-1', why: expect.stringContaining('still grows') }]);
    expect(plan.files).toEqual([]);

    const later = await reaptop.plan();
    expect(later.files).toHaveLength(5);
    appendFileSync(files.stream, '{"type":"system"}\n');
    const result = await run(later);
    expect(result.files.map(file => file.outcome)).toEqual(Array(5).fill('skipped'));
    expect(result.outcomes).toEqual([]);
    expect(sessions()).toEqual(['agent_a-1']);
  });

  it('leaves a session alone that somebody entered, or started something in, after the plan', async () => {
    for (const id of ['a-1', 'a-2', 'a-3']) {
      writeAgent(sandbox, id, { finished: true });
      start(id);
    }
    const plan = await reaptop.plan();
    expect(plan.sessions).toHaveLength(3);
    sandbox.start(['script', '-qfc', 'tmux -L reaptop-test attach -t =agent_a-1', '/dev/null'], {
      env: { TERM: 'xterm-256color' },
      detached: true,
    });
    await until('the client to be attached', () => sandbox.tmux('list-clients') !== '');
    sandbox.tmux('new-window', '-d', '-t', '=agent_a-2', 'sleep 1000');
    await until('what runs in the other window', () =>
      sandbox
        .tmux('list-windows', '-t', '=agent_a-2', '-F', '#{window_index} #{pane_current_command}')
        .match(/^[1-9]\d* sleep$/m),
    );
    const result = await run(plan);
    expect(new Map(result.sessions.map(s => [s.agent, s.why]))).toEqual(
      new Map([
        ['a-1', expect.stringContaining('attached')],
        ['a-2', expect.stringMatching(/sleep \(\d+\) runs in its session/)],
        ['a-3', expect.stringContaining('stream log')],
      ]),
    );
    expect(sessions()).toEqual(['agent_a-1', 'agent_a-2']);
    expect(result.files.filter(file => file.outcome === 'done')).toHaveLength(5);
  });

  it('ends no session that a registry merely names', async () => {
    writeAgent(sandbox, 'a-1', { finished: true });
    for (const name of ['main', 'agent_mine']) sandbox.tmux('new-session', '-d', '-s', name, 'sleep 1000');
    for (const name of ['main', 'agent_mine']) {
      writeRegistry(sandbox, { 'a-1': 'completed' }, name);
      const plan = await reaptop.plan();
      expect([plan.sessions, plan.ending.steps, plan.files]).toEqual([[], [], []]);
      expect(plan.refused[0]?.why).toContain(name);
    }
    expect(sessions()).toEqual(['agent_mine', 'main']);
  });

  it('ends no live agent whose pane is young, whatever is written about it', async () => {
    writeAgent(sandbox, 'a-1', { finished: true, ageSeconds: 3600 });
    writeRegistry(sandbox, { 'a-1': 'completed' });
    sandbox.tmux('new-session', '-d', '-s', 'agent_a-1', `${sandbox.sleeper('claude')} 1000 | tee x`);
    await sandbox.find('the agent', p => p.comm === 'claude');
    const plan = await reaptop.plan();
    expect([plan.sessions, plan.files]).toEqual([[], []]);
    expect(plan.refused).toEqual([
      { what: 'agent a-1', why: expect.stringMatching(/pane showed something|used CPU|not known/) },
    ]);
  });

  it('believes no registry while the stream log is fresh and has no result', async () => {
    writeAgent(sandbox, 'a-1', { finished: false, ageSeconds: 30 });
    writeRegistry(sandbox, { 'a-1': 'completed' });
    start('a-1');
    expect(await reaptop.plan()).toMatchObject({
      files: [],
      sessions: [],
      refused: [{ why: expect.stringContaining('no result yet') }],
    });
  });

  it('never replaces a file in the archive', async () => {
    const files = writeAgent(sandbox, 'a-1', { finished: true });
    // Whatever second it is archived in, that name is taken.
    const taken = Array.from({ length: 60 }, (_, i) =>
      sandbox.write(
        `${TASK}/archive/${archivedName(basename(files.stream), Date.now() + i * 1000)}`,
        'older',
      ),
    );
    const result = await run(await reaptop.plan());
    for (const path of taken) expect(readFileSync(path, 'utf8')).toBe('older');
    const moved = result.files.find(file => file.path === files.stream)?.to ?? '';
    expect(moved).toMatch(/_stream\.jsonl\.archived-\d{8}T\d{6}Z\.1$/);
    expect(readFileSync(moved, 'utf8')).toContain('result');
  });

  it('follows no symbolic link out of the workspace', async () => {
    const outside = sandbox.write('outside/treasure.txt', 'gold');
    mkdirSync(sandbox.path(TASK, 'logs'), { recursive: true });
    writeAgent(sandbox, 'b-1', { finished: true });
    symlinkSync(outside, sandbox.path(TASK, 'agent_prompt_b-2.txt'));
    sandbox.write('outside/c-1_findings.jsonl', '');
    const task2 = `${TASK.replace('abcdef12', 'abcdef13')}`;
    sandbox.write(`${task2}/logs/c-1_stream.jsonl`, '{"type":"result","subtype":"success"}\n');
    symlinkSync(sandbox.path('outside'), sandbox.path(task2, 'findings'));
    symlinkSync(sandbox.path('outside'), sandbox.path(task2, 'archive'));
    writeRegistry(sandbox, { 'b-2': 'completed' });
    const plan = await reaptop.plan();
    // The prompt that is a link was not even read.
    expect(plan.refused.map(r => basename(r.what))).toEqual(['c-1_findings.jsonl']);
    const result = await run(plan);
    expect(result.files.find(f => f.path.endsWith('c-1_stream.jsonl'))).toMatchObject({
      outcome: 'skipped',
      why: expect.stringContaining('out of the workspace'),
    });
    expect(readFileSync(outside, 'utf8')).toBe('gold');
    expect(readdirSync(sandbox.path('outside')).sort()).toEqual(['c-1_findings.jsonl', 'treasure.txt']);
  });

  it('keeps a log for the retention from the moment it is archived, however old it is', async () => {
    const files = writeAgent(sandbox, 'a-1', { finished: true, ageSeconds: 30 * 86_400 });
    writeRegistry(sandbox, {});
    await run(await reaptop.plan());
    expect(archive()).toContain(basename(files.stream));
    expect((await reaptop.plan()).files).toEqual([]);
    expect((await reaptop.plan({ retentionDays: 0 })).files.map(act => act.act)).toEqual(
      Array(4).fill('expire'),
    );
  });

  it('deletes archives that were kept for the retention, and nothing else there', async () => {
    writeRegistry(sandbox, {});
    const day = 86_400_000;
    const old = (name: string, days: number, archived: number | null): string => {
      const stamped = archived === null ? name : archivedName(name, Date.now() - archived * day);
      const path = sandbox.write(`${TASK}/archive/${stamped}`, 'x'.repeat(100));
      const then = (Date.now() - days * day) / 1000;
      utimesSync(path, then, then);
      return path;
    };
    const expired = old('a-1_stream.jsonl', 30, 8);
    const kept = [
      old('a-2_stream.jsonl', 30, 6),
      old('notes.md', 400, null),
      // From before names told it: archived today at the latest, as far as anyone knows.
      old('a-3_stream.jsonl', 30, null),
      // A time that has not come tells nothing.
      old('a-4_stream.jsonl', 30, -400),
    ];
    const plan = await reaptop.plan();
    expect(plan.files.map(f => [f.act, f.path])).toEqual([['expire', expired]]);
    expect((await run(plan)).freedBytes).toBe(100);
    expect([existsSync(expired), ...kept.map(existsSync)]).toEqual([false, true, true, true, true]);
    expect((await reaptop.plan({ retentionDays: 5 })).files).toHaveLength(1);
  });

  it('removes locks, markers and guards of dead agents, and archives the progress of finished tasks', async () => {
    const aged = (relative: string, text: string, seconds: number): string => {
      const path = sandbox.write(`work/specs/688_x/${relative}`, text);
      const then = Date.now() / 1000 - seconds;
      utimesSync(path, then, then);
      return path;
    };
    const removed = [
      aged('.diagnostic-lock', '', 60),
      aged('.postflight-pending', '{}', 400),
      aged('.postflight-loop-guard', '1\n', 400),
    ];
    const progress = aged('.agent-progress.json', '{"task_number": 688}', 400);
    const meta = aged('.return-meta.json', '{"status": "implemented"}', 390);
    const plan = await reaptop.plan();
    expect(plan.files.map(f => f.path).sort()).toEqual([...removed, progress].sort());
    await run(plan);
    expect([...removed, progress].map(existsSync)).toEqual([false, false, false, false]);
    expect(archivedNames(sandbox.path('work/specs/688_x/archive'))).toEqual(['.agent-progress.json']);
    expect(existsSync(meta)).toBe(true);
  });
});
