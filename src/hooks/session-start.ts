import { spawn } from 'node:child_process';
import { type AgentFiles, NO_FILES, scannedFiles } from '../engine/agent-files.ts';
import { type Engine, engineOf } from '../engine/engine.ts';
import { loadConfig } from '../engine/load-config.ts';
import { type Prepared, prepareWith, rememberedLineage } from '../engine/prepare.ts';
import { type HookAnswer, NO_ANSWER } from '../model/hook.ts';
import { keyOf } from '../model/identity.ts';
import type { ClaudeSession } from '../model/observation.ts';
import type { Outcome, Plan } from '../model/plan.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { formatBytes } from '../model/units.ts';
import { leanProject } from '../observe/files/project.ts';
import { stateDirectory } from '../observe/state/state-directory.ts';
import { pruneSessionLineage } from '../remember/lineage-files.ts';
import type { HookContext } from './context.ts';
import { quoted, tell } from './decide/answers.ts';
import { pruneSessions } from './session-state.ts';

/** Younger ones may still have an owner. */
const LEAST_AGE_SECONDS = 60;

/** Warms the build in the background; it outlives us, and locks the project meanwhile. */
const startPrebuild = ({ config, input, log, env }: HookContext): void => {
  const project = config.prebuild ? leanProject(input.cwd) : null;
  const script = process.argv[1];
  if (project === null || script === undefined) return;
  const child = spawn(process.execPath, [script, 'prebuild'], {
    cwd: project,
    env,
    detached: true,
    stdio: 'ignore',
  });
  child.on('error', error => log(`prebuild could not be started: ${error.message}`));
  child.unref();
  log(`prebuild started in ${project}`);
};

/** What a session gets to know: what was cleared, and what is critical. */
const news = ({ snapshot, ended }: Cleared): string | null => {
  const freed = ended.reduce((sum, { freed: bytes }) => sum + bytes, 0);
  const critical = snapshot.findings
    .filter(({ severity, id }) => severity === 'critical' && id !== 'leak')
    .slice(0, 3);
  const said = [
    ...(ended.length === 0
      ? []
      : [
          `cleared ${ended.length} leaked ${ended.length === 1 ? 'process' : 'processes'} of ended sessions (${formatBytes(freed)})`,
        ]),
    // A title names processes and paths as they call themselves.
    ...critical.map(({ id, title }) => `critical: ${id}, ${quoted(title)}`),
  ];
  return said.length === 0 ? null : `reaptop: ${said.join('; ')}.`;
};

/** SessionStart of a new session. `minimumAgeSeconds`: tests cannot wait for a minute. */
export const sessionStart = async (
  context: HookContext,
  minimumAgeSeconds = LEAST_AGE_SECONDS,
): Promise<HookAnswer> => {
  startPrebuild(context);
  const cleared = await clearAll(context, minimumAgeSeconds);
  const said = news(cleared);
  if (said === null) return NO_ANSWER;
  context.log(said);
  return tell('SessionStart', said);
};

/** A session must not wait for its start: what is begun is given up and written down before the hook's own limit. */
const ALL_MS = 1700;
const GRACE_MS = 1000;
/** The session whose hook this is, which Claude may not have written down yet. */
const ownSession = ({ agent, input }: HookContext): readonly ClaudeSession[] =>
  agent === null
    ? []
    : [
        {
          pid: agent.pid,
          procStart: agent.start,
          sessionId: input.sessionId,
          cwd: input.cwd,
          kind: null,
          status: null,
          statusUpdatedAt: null,
          waitingFor: null,
          name: null,
          jobId: null,
          socket: null,
          spare: false,
          adoptedOutputs: [],
          path: '',
        },
      ];

export const preparedFor = async (context: HookContext): Promise<Prepared> =>
  prepareWith(
    await loadConfig(context.env),
    { platform: 'auto' },
    context.env,
    context.input.cwd,
    rememberedLineage(context.env),
    ownSession(context),
  );

const ENDED: ReadonlySet<Outcome['outcome']> = new Set(['ended', 'killed', 'zombie']);

export interface Cleared {
  readonly snapshot: Snapshot;
  readonly ended: readonly Outcome[];
}

/**
 * Where files are read from when a plan is rechecked: only where an agent is to be ended. A stream that grows may be
 * the only sign that it is at work, and most sessions start without such a plan.
 */
const filesFor = ({ config }: Prepared, { steps }: Plan): AgentFiles =>
  steps.some(({ subject }) => subject?.kind === 'agent') ? scannedFiles(config) : NO_FILES;

/** Ends proven leaks with SIGTERM alone: what does not end by itself is left to `clean`. */
const clearLeaks = async (
  ready: Prepared,
  engine: Engine,
  snapshot: Snapshot,
  signal: AbortSignal,
  minimumAgeSeconds: number,
): Promise<readonly Outcome[]> => {
  const plan = await engine.plan({ act: 'clean', minimumAgeSeconds }, { by: 'hook', snapshot });
  if (plan.steps.length === 0 || signal.aborted) return [];
  const done = await engine.execute(plan, {
    by: 'hook',
    why: 'SessionStart',
    signal,
    graceMs: GRACE_MS,
    kills: false,
    files: filesFor(ready, plan),
  });
  return done.status === 'held' ? [] : done.execution.outcomes.filter(({ outcome }) => ENDED.has(outcome));
};

/** SIGCHLD to parents that owe a wait; nothing is ended for it. */
const nudge = async (engine: Engine, snapshot: Snapshot, signal: AbortSignal): Promise<void> => {
  const request = { act: 'zombies', minimumAgeSeconds: 60, quietSeconds: 10 } as const;
  const plan = await engine.plan(request, { by: 'hook', snapshot });
  const steps = plan.steps.filter(step => step.signal === 'SIGCHLD');
  if (steps.length === 0 || signal.aborted) return;
  await engine.execute({ ...plan, steps, how: 'signal' }, { by: 'hook', why: 'zombies', signal });
};

/** What ended sessions left in our own state: without guard nothing else removes it. */
const forgetEnded = ({ env, now }: HookContext, { host, processes }: Snapshot): void => {
  const directory = stateDirectory(env);
  if (directory === null) return;
  pruneSessions(directory, now);
  if (host.bootId === null) return;
  const running = new Set(processes.map(({ facts }) => keyOf(facts)));
  pruneSessionLineage(directory, host.bootId, identity => running.has(keyOf(identity)));
};

/** Everything a session clears as it starts; over after two seconds. */
export const clearAll = async (
  context: HookContext,
  minimumAge: number,
  machine?: Prepared,
): Promise<Cleared> => {
  const signal = AbortSignal.timeout(Math.max(1, context.now + ALL_MS - Date.now()));
  const ready = machine ?? (await preparedFor(context));
  const engine = engineOf(ready, NO_FILES);
  const snapshot = await engine.sampleTwice();
  forgetEnded(context, snapshot);
  await nudge(engine, snapshot, signal);
  return { snapshot, ended: await clearLeaks(ready, engine, snapshot, signal, minimumAge) };
};

/** For a Stop among many builds. */
export const clearZombies = async (context: HookContext): Promise<void> => {
  const engine = engineOf(await preparedFor(context), NO_FILES);
  await nudge(engine, await engine.sample({ all: true }), AbortSignal.timeout(ALL_MS));
};
