import { recheckSweep } from '../../judge/plan/recheck.ts';
import type { SessionAct, SweepPlan } from '../../judge/plan/sweep-plan.ts';
import { keyOf } from '../../model/identity.ts';
import { IS_OVER, type Outcome } from '../../model/plan.ts';
import { nameAndPid, type Snapshot } from '../../model/snapshot.ts';
import type { System } from '../../observe/system.ts';
import { type TerminateOptions, terminate } from '../terminate/terminate.ts';
import { endTmuxSession, type TmuxEndResult } from '../tmux.ts';
import { type FileRecord, runFileAct } from './file-acts.ts';

export interface ExecuteSweepOptions extends Pick<TerminateOptions, 'graceMs' | 'onProgress' | 'signal'> {
  readonly system: System;
  readonly plan: SweepPlan;
  readonly env: NodeJS.ProcessEnv;
  /** Judges every process again. */
  readonly resample: () => Promise<Snapshot>;
  /** The plan as it would be made now: a user may have attached since. */
  readonly replan: () => Promise<SweepPlan>;
  readonly onFile?: ((record: FileRecord) => void) | undefined;
}

export interface SessionRecord {
  readonly session: string;
  readonly agent: string;
  readonly outcome: TmuxEndResult['status'] | 'skipped';
  readonly why: string;
}

export interface SweepResult {
  readonly outcomes: readonly Outcome[];
  readonly sessions: readonly SessionRecord[];
  readonly files: readonly FileRecord[];
  readonly archivedBytes: number;
  readonly freedBytes: number;
  readonly durationMs: number;
  readonly warnings: readonly string[];
}

/** Runs a sweep: processes, then their sessions, then the files of every agent that is really gone. */
export const executeSweep = async (options: ExecuteSweepOptions): Promise<SweepResult> => {
  const { plan, replan, env } = options;
  const startedAt = performance.now();
  const again = recheckSweep(plan, await replan());
  const leftAlone = new Map(again.agents);
  const ended = await terminate({ ...options, plan: again.ending });
  for (const outcome of ended.outcomes) {
    const agent = again.owners.get(keyOf(outcome));
    if (agent !== undefined && !IS_OVER.has(outcome.outcome))
      leftAlone.set(agent, `${nameAndPid(outcome.name, outcome.pid)} ${outcome.outcome}: ${outcome.why}`);
  }
  const sessions: SessionRecord[] = [];
  for (const session of plan.sessions) sessions.push(await endSession(session, leftAlone, env));
  const files: FileRecord[] = [];
  for (const act of plan.files) {
    const why = act.agent === null ? again.files.get(act.path) : leftAlone.get(act.agent);
    const record =
      why === undefined
        ? runFileAct(act)
        : { act: act.act, path: act.path, to: null, bytes: 0, outcome: 'skipped' as const, why };
    files.push(record);
    options.onFile?.(record);
  }
  const bytes = (archived: boolean): number =>
    files.filter(file => (file.act === 'archive') === archived).reduce((sum, file) => sum + file.bytes, 0);
  return {
    outcomes: ended.outcomes,
    sessions,
    files,
    archivedBytes: bytes(true),
    freedBytes: bytes(false),
    durationMs: performance.now() - startedAt,
    warnings: ended.warnings,
  };
};

const endSession = async (
  session: SessionAct,
  leftAlone: Map<string, string>,
  env: NodeJS.ProcessEnv,
): Promise<SessionRecord> => {
  const { agent } = session;
  const left = leftAlone.get(agent);
  if (left !== undefined) return { session: session.session, agent, outcome: 'skipped', why: left };
  // tmux prints separators as `_` in a C locale.
  const result = await endTmuxSession(session, { ...env, LC_ALL: 'C.UTF-8' });
  const why = 'why' in result ? result.why : session.why;
  if (result.status === 'failed' || result.status === 'refused') leftAlone.set(agent, why);
  return { session: session.session, agent, outcome: result.status, why };
};
