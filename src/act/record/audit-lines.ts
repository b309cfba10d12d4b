import type { Identity } from '../../model/identity.ts';
import type { AskedBy, Outcome, Plan, Step } from '../../model/plan.ts';
import { planRest } from '../../model/plan.ts';

export const AUDIT_FILE = 'audit.jsonl';

/** One act is two lines with one `id`: what is about to be done, and what came of it. */
export interface IntentLine {
  readonly schema: 1;
  readonly event: 'intent';
  readonly id: string;
  readonly by: AskedBy;
  readonly why: string;
  /** Who writes; when that identity is gone and no outcome follows, the next run completes the record. */
  readonly writer: Identity | null;
  readonly boot: string | null;
  readonly plan: object;
  readonly sessions: readonly object[];
}

export interface OutcomeLine {
  readonly schema: 1;
  readonly event: 'outcome';
  readonly id: string;
  readonly by: AskedBy;
  readonly outcomes: readonly object[];
  readonly freed: number;
  readonly durationMs: number | null;
  readonly sessions: readonly object[];
  readonly files: readonly object[];
  /** Why it stopped early, or what went wrong. */
  readonly note: string | null;
  /** The later run that found this act without its outcomes; null when the act wrote them itself. */
  readonly completedBy: (Identity & { readonly by: AskedBy }) | null;
}

export type AuditLine = IntentLine | OutcomeLine;

/** A planned identity as every line names it: no command line, which may hold what redaction missed. */
const entryOf = (step: Step) => ({
  pid: step.pid,
  start: step.start,
  name: step.name,
  kind: step.subject?.kind ?? null,
  agent: step.subject?.agent ?? null,
  verdict: step.subject?.verdict ?? null,
  session: step.subject?.session ?? null,
  cwd: step.subject?.cwd ?? null,
  ageSeconds: step.ageSeconds === null ? null : Math.round(step.ageSeconds),
});

export const planEntries = (plan: Plan): object => ({
  steps: plan.steps.map(step => ({
    ...entryOf(step),
    signal: step.signal,
    rss: step.rss,
    pss: step.pss ?? null,
    root: { pid: step.root.pid, start: step.root.start },
    why: step.why,
  })),
  ...planRest(plan),
});

/** Outcomes of identities that joined while the plan ran have no step: what they are is then not known. */
export const outcomeEntries = (plan: Plan, outcomes: readonly Outcome[]): readonly object[] => {
  const steps = new Map(plan.steps.map(step => [`${step.pid}:${step.start}`, step]));
  return outcomes.map(({ pid, start, name, outcome, why, freed }) => {
    const step = steps.get(`${pid}:${start}`);
    return { ...(step === undefined ? {} : entryOf(step)), pid, start, name, outcome, why, freed };
  });
};

export const freedBy = (outcomes: readonly Outcome[]): number =>
  outcomes.reduce((sum, outcome) => sum + outcome.freed, 0);
