import type { JudgedSnapshot } from '../judge/judge.ts';
import { type FileAct, type SweepPlan, sweepBytes } from '../judge/plan/sweep-plan.ts';
import type { GuardPolicy } from '../model/config.ts';
import type { FindingId } from '../model/finding.ts';
import { EMPTY_PLAN } from '../model/plan.ts';
import type { Snapshot } from '../model/snapshot.ts';

/** Findings that a sweep may have an answer to. */
const SWEEPABLE: ReadonlySet<FindingId> = new Set([
  'agent-finished-session-alive',
  'leftover-files',
  'lock-stale',
  'marker-age',
  'loop-guard',
]);

export const mayNeedSweep = ({ findings }: Snapshot): boolean => findings.some(({ id }) => SWEEPABLE.has(id));

/** Since when each agent and each file has been in every plan: what was planned only once may be a mistake. */
export class SweepSightings {
  #since: ReadonlyMap<string, number> = new Map();

  note(plan: SweepPlan, at: number): void {
    const before = this.#since;
    this.#since = new Map(namesIn(plan).map(name => [name, before.get(name) ?? at]));
  }

  isConfirmed(name: string, seconds: number, at: number): boolean {
    const since = this.#since.get(name);
    return since !== undefined && at - since >= seconds;
  }

  forget(): void {
    this.#since = new Map();
  }
}

const nameOf = (act: Pick<FileAct, 'agent' | 'path'>): string =>
  act.agent === null ? act.path : `agent ${act.agent}`;

const namesIn = (plan: SweepPlan): readonly string[] => [
  ...new Set([...plan.sessions.map(({ agent }) => `agent ${agent}`), ...plan.files.map(nameOf)]),
];

/** The part of a sweep that the policy allows and that was planned long enough. Pure. */
export const allowedSweep = (
  plan: SweepPlan,
  { files }: Pick<JudgedSnapshot, 'files'>,
  policy: GuardPolicy,
  plannedFor: (name: string, seconds: number) => boolean,
): SweepPlan => {
  const quiet = new Map(files.orchestrated.map(({ id, quietSeconds }) => [id, quietSeconds]));
  const isConfirmed = (name: string): boolean => plannedFor(name, policy.sightingSeconds);
  const hasRested = (agent: string): boolean => {
    const seconds = quiet.get(agent);
    // Without a file of its own, how long it has been finished is known only from our sightings.
    if (seconds === null) return plannedFor(`agent ${agent}`, policy.terminalSeconds);
    return seconds !== undefined && seconds >= policy.terminalSeconds;
  };
  const agentAllowed = (agent: string): boolean =>
    policy.sweep && hasRested(agent) && isConfirmed(`agent ${agent}`);
  const sessions = plan.sessions.filter(({ agent }) => agentAllowed(agent));
  const ended = new Set(sessions.flatMap(session => session.processes));
  const steps = plan.ending.steps.filter(step => ended.has(`${step.pid}:${step.start}`));
  const acts = plan.files.filter(act => {
    if (act.agent !== null) return agentAllowed(act.agent);
    return (act.act === 'remove' ? policy.staleFiles : policy.sweep) && isConfirmed(act.path);
  });
  const bytes = steps.reduce((sum, step) => sum + step.rss, 0);
  const ending = steps.length === 0 ? EMPTY_PLAN : { ...plan.ending, steps, bytes };
  return { ...plan, ending, sessions, files: acts, ...sweepBytes(acts) };
};

export const isEmptySweep = ({ ending, sessions, files }: SweepPlan): boolean =>
  ending.steps.length + sessions.length + files.length === 0;
