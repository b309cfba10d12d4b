import type { FindingId } from './finding.ts';

/** One act of the audit log, as far as a report counts it. */
export interface RecordedAct {
  readonly at: number;
  readonly by: string;
  readonly outcomes: readonly RecordedOutcome[];
  readonly freed: number;
  /** Sessions that it put to sleep. */
  readonly slept: number;
}

export interface RecordedOutcome {
  /** `pid:start`. */
  readonly key: string;
  readonly kind: string | null;
  readonly agent: string | null;
  readonly verdict: string | null;
  readonly project: string | null;
  readonly outcome: string;
  readonly freed: number;
}

/** A process that was seen leaked, or an agent with its memory. */
export interface SeenProcess {
  readonly key: string;
  readonly kind: string;
  readonly agent: string | null;
  readonly project: string | null;
  readonly memory: number;
}

/** A call that hung when it was seen. */
export interface HungCall {
  readonly id: string;
  readonly tool: string;
  readonly server: string | null;
  readonly seconds: number;
}

/** Which tool hangs: how many of its calls did, and the longest of them. */
export interface HungTool {
  readonly tool: string;
  readonly server: string | null;
  readonly calls: number;
  readonly longestSeconds: number;
}

/** A recorded moment, reduced to what a report adds up. */
export interface Glimpse {
  readonly at: number;
  readonly related: number;
  readonly zombies: number;
  readonly builds: number;
  readonly tmuxSessions: number;
  readonly memory: number;
  readonly agents: readonly SeenProcess[];
  readonly leaks: readonly SeenProcess[];
  /** What the tasks' own result files say came of them. */
  readonly results: readonly { readonly key: string; readonly result: 'partial' | 'none' }[];
  /** Calls that hang at this moment. */
  readonly hungCalls: readonly HungCall[];
  /** What concerns which processes: enough to tell whether it is the same one as before. */
  readonly findings: readonly {
    readonly id: FindingId;
    readonly about: readonly string[];
  }[];
}

/** How long something was wrong, and what ended it. */
export interface Episode {
  readonly id: FindingId;
  readonly from: number;
  readonly to: number;
  readonly ended: 'act' | 'itself' | 'open';
}

export interface GroupTotals {
  readonly name: string;
  readonly leaks: number;
  readonly cleared: number;
  readonly freed: number;
  readonly memoryPeak: number;
}

export interface Target {
  readonly what: string;
  readonly wanted: string;
  readonly measured: string;
  /** null: there is nothing to measure it by. */
  readonly met: boolean | null;
}

export const REPORT_GROUPS = ['day', 'kind', 'project', 'agent'] as const;
export type ReportGroup = (typeof REPORT_GROUPS)[number];

export interface Report {
  readonly from: number;
  readonly to: number;
  readonly moments: number;
  readonly sessions: number;
  readonly leaksSeen: number;
  readonly leaksCleared: number;
  readonly freed: number;
  /** Sessions that were put to sleep, and the memory that this gave back. */
  readonly slept: { readonly sessions: number; readonly freed: number };
  readonly zombiePeak: number;
  readonly zombiesPerSession: number;
  readonly hangs: readonly Episode[];
  /** The worst first. */
  readonly hungTools: readonly HungTool[];
  readonly falseAlarms: number;
  readonly agentsAtOnce: number;
  readonly buildsAtOnce: number;
  readonly memoryPeak: number;
  readonly relatedFirst: number | null;
  readonly relatedLast: number | null;
  readonly tmuxSessions: number | null;
  readonly agentsNow: number | null;
  readonly groups: readonly GroupTotals[];
  readonly targets: readonly Target[];
  /** Over time, in equal stretches; what is not known is null. */
  readonly series: Readonly<Record<'agents' | 'zombies' | 'memory', readonly (number | null)[]>>;
}

/** What the time line marks: moments one wants to jump to. */
export const MARKS = ['leak', 'ended', 'silent', 'peak', 'oom', 'boot'] as const;
export type MarkKind = (typeof MARKS)[number];

export interface Mark {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly mark: MarkKind;
  /** What happened, in a few words. */
  readonly text: string;
}
