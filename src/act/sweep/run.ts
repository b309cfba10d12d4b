import { lstatSync } from 'node:fs';
import type { FileAct, SessionAct, SweepPlan } from '../../judge/plan/sweep-plan.ts';
import { keyOf } from '../../model/identity.ts';
import type { Outcome, OutcomeKind } from '../../model/plan.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import type { System } from '../../observe/system.ts';
import { type TerminateOptions, terminate } from '../terminate/terminate.ts';
import { endTmuxSession, type TmuxEndResult } from '../tmux/end-session.ts';
import { type FileRecord, runFileAct } from './file-acts.ts';

export interface SweepOptions extends Pick<TerminateOptions, 'graceMs' | 'onProgress' | 'signal'> {
  readonly system: System;
  readonly plan: SweepPlan;
  readonly env: NodeJS.ProcessEnv;
  /** Judges every process anew, tmux included: somebody may have attached since the plan. */
  readonly snapshotAgain: () => Promise<Snapshot>;
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

const OVER: ReadonlySet<OutcomeKind> = new Set(['ended', 'killed', 'gone', 'zombie']);

const hasChanged = (act: FileAct): boolean => {
  const stat = lstatSync(act.path, { throwIfNoEntry: false });
  return stat !== undefined && (stat.mtimeMs !== act.seen.mtimeMs || stat.size !== act.seen.size);
};

/** Why an agent must be left alone after all, seen right before acting. */
const secondThoughts = (plan: SweepPlan, now: Snapshot): Map<string, string> => {
  const reasons = new Map<string, string>();
  const panes = now.tmux.flatMap(server => server.panes);
  for (const { agent, socket, sessionId, session } of plan.sessions) {
    const own = panes.filter(pane => pane.socket === socket && pane.sessionId === sessionId);
    if (own.some(pane => pane.attached)) reasons.set(agent, `somebody attached to ${session} meanwhile`);
    if (own.some(pane => pane.session !== session)) reasons.set(agent, `${sessionId} has another name now`);
  }
  for (const act of plan.files)
    if (act.agent !== null && hasChanged(act))
      reasons.set(act.agent, `${act.path} changed after the plan was made`);
  return reasons;
};

/** Members of a session's processes are known by the pane's process they were planned for. */
const agentsByStep = (plan: SweepPlan, now: Snapshot): Map<string, string> => {
  const agents = new Map<string, string>();
  for (const step of plan.ending.steps) {
    const root = now.tmux.flatMap(server => server.panes).find(pane => pane.pid === step.root.pid);
    const session = plan.sessions.find(s => s.socket === root?.socket && s.sessionId === root?.sessionId);
    if (session !== undefined) agents.set(keyOf(step), session.agent);
  }
  return agents;
};

/** Runs a sweep: processes, then their sessions, then the files of every agent that is really gone. */
export const runSweep = async (options: SweepOptions): Promise<SweepResult> => {
  const { plan, system, snapshotAgain, env } = options;
  const startedAt = performance.now();
  const now = await snapshotAgain();
  const leftAlone = secondThoughts(plan, now);
  const owners = agentsByStep(plan, now);
  const steps = plan.ending.steps.filter(step => !leftAlone.has(owners.get(keyOf(step)) ?? ''));
  const ended = await terminate({ ...options, system, plan: { ...plan.ending, steps }, snapshotAgain });
  for (const outcome of ended.outcomes) {
    const agent = owners.get(keyOf(outcome));
    if (agent !== undefined && !OVER.has(outcome.outcome))
      leftAlone.set(agent, `${outcome.name} (${outcome.pid}) ${outcome.outcome}: ${outcome.why}`);
  }
  const sessions: SessionRecord[] = [];
  for (const session of plan.sessions) sessions.push(await endSession(session, leftAlone, env));
  const files: FileRecord[] = [];
  for (const act of plan.files) {
    const why = act.agent === null ? undefined : leftAlone.get(act.agent);
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
