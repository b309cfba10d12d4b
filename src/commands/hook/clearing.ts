import { pruneSessions } from '../../act/hooks/session-prune.ts';
import { perform } from '../../act/perform.ts';
import { sendSignals } from '../../act/signal/send-signals.ts';
import { terminate } from '../../act/terminate/terminate.ts';
import { type AgentFiles, NO_FILES, scannedFiles } from '../../collect/agent-files.ts';
import type { Collector } from '../../collect/collector.ts';
import { loadConfig } from '../../collect/config.ts';
import { type Prepared, prepareWith } from '../../collect/prepare.ts';
import { sampleTwice } from '../../collect/sample-twice.ts';
import { weigh } from '../../collect/weigh.ts';
import { leakPolicy, planClean, planZombies } from '../../judge/plan/index.ts';
import { keyOf } from '../../model/identity.ts';
import type { ClaudeSession } from '../../model/observation.ts';
import type { Outcome, Plan } from '../../model/plan.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import { stateDirectory } from '../../observe/state/state-directory.ts';
import { pruneSessionLineage } from '../../remember/lineage-prune.ts';
import { rememberedLineage } from '../remembered.ts';
import type { HookContext } from './context.ts';

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

const prepared = async (context: HookContext): Promise<Prepared> =>
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
 * Where files are read from when a plan is judged anew: only where an agent is to be ended. A stream that grows may be
 * the only sign that it is at work, and most sessions start without such a plan.
 */
const filesFor = ({ config }: Prepared, { steps }: Plan): AgentFiles =>
  steps.some(({ subject }) => subject?.kind === 'agent') ? scannedFiles(config) : NO_FILES;

/** Ends proven leaks, politely: who takes no notice of SIGTERM is left to `clean`. */
const clearLeaks = async (
  ready: Prepared,
  collector: Collector,
  snapshot: Snapshot,
  signal: AbortSignal,
  minimumAgeSeconds: number,
): Promise<readonly Outcome[]> => {
  const { system } = ready;
  const light = planClean({
    snapshot,
    lineageMembers: target => collector.lineage.membersOf(target),
    policy: leakPolicy('hook', { minimumAgeSeconds }),
  });
  if (light.steps.length === 0) return [];
  const plan = await weigh(light, system);
  if (signal.aborted) return [];
  const files = filesFor(ready, plan);
  const done = await perform({
    system,
    by: 'hook',
    why: 'SessionStart',
    plan,
    boot: snapshot.host.bootId,
    run: () =>
      terminate({
        system,
        plan,
        graceMs: GRACE_MS,
        kills: false,
        signal,
        snapshotAgain: () => collector.collect({ all: true, fresh: true, files }),
      }),
  });
  return done.status === 'held' ? [] : done.deed.outcomes.filter(({ outcome }) => ENDED.has(outcome));
};

/** SIGCHLD to parents that owe a wait; nobody is ended for it. */
const nudge = async (
  { system }: Prepared,
  snapshot: Snapshot,
  plan: Plan,
  signal: AbortSignal,
): Promise<void> => {
  const nudges: Plan = { ...plan, steps: plan.steps.filter(step => step.signal === 'SIGCHLD') };
  if (nudges.steps.length === 0 || signal.aborted) return;
  await perform({
    system,
    by: 'hook',
    why: 'zombies',
    plan: nudges,
    boot: snapshot.host.bootId,
    run: async () => ({ ...(await sendSignals({ system, plan: nudges, signal })), durationMs: 0 }),
  });
};

const zombiePlan = (collector: Collector, snapshot: Snapshot): Plan =>
  planZombies({
    snapshot,
    lineageMembers: target => collector.lineage.membersOf(target),
    by: 'hook',
    minimumAgeSeconds: 60,
    quietSeconds: 10,
  });

/** What ended sessions left in our own state: where no guard is, nobody else clears it away. */
const forgetEnded = ({ env, now }: HookContext, { host, processes }: Snapshot): void => {
  const directory = stateDirectory(env);
  if (directory === null) return;
  pruneSessions(directory, now);
  if (host.bootId === null) return;
  const running = new Set(processes.map(({ facts }) => keyOf(facts)));
  pruneSessionLineage(directory, host.bootId, identity => running.has(keyOf(identity)));
};

/** Everything a session clears as it starts; over after two seconds. */
export const clearAll = async (context: HookContext, minimumAge: number): Promise<Cleared> => {
  const signal = AbortSignal.timeout(Math.max(1, context.now + ALL_MS - Date.now()));
  const ready = await prepared(context);
  const collector = ready.collectorWith(NO_FILES);
  const snapshot = await sampleTwice(collector);
  forgetEnded(context, snapshot);
  await nudge(ready, snapshot, zombiePlan(collector, snapshot), signal);
  return { snapshot, ended: await clearLeaks(ready, collector, snapshot, signal, minimumAge) };
};

/** For a Stop among many builds. */
export const clearZombies = async (context: HookContext): Promise<void> => {
  const ready = await prepared(context);
  const collector = ready.collectorWith(NO_FILES);
  const snapshot = await collector.collect({ all: true });
  await nudge(ready, snapshot, zombiePlan(collector, snapshot), AbortSignal.timeout(ALL_MS));
};
