import type { Finding } from './finding.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { Identity } from './identity.ts';
import type { Kind, Recognition } from './kind.ts';
import type { HostFacts, Self, TmuxServer } from './observation.ts';
import type { ProcessFacts } from './process.ts';

export const VERDICTS = ['live', 'leak', 'suspect', 'protected', 'unknown'] as const;
export type Verdict = (typeof VERDICTS)[number];

export const OWNERSHIP = ['ancestor', 'lineage', 'environ', 'tmux', 'registry', 'continued'] as const;
export type Ownership = (typeof OWNERSHIP)[number];

/** The agent session a process belongs to, and how we know. */
export interface Owner {
  /** null when only a session id is known. */
  readonly pid: number | null;
  readonly start: string | null;
  readonly sessionId: string | null;
  readonly how: Ownership;
  readonly alive: boolean;
}

/** Which session an agent is, and what it is doing now. */
export interface AgentSession {
  readonly id: string | null;
  /** The last part of its cwd. */
  readonly project: string | null;
  /** The session's own name. */
  readonly name: string | null;
  readonly doing: 'busy' | 'idle' | 'waiting' | null;
  readonly waitingFor: string | null;
  /** How long it has been doing that. */
  readonly seconds: number | null;
}

/** What speaks against ending a process that a proof calls leaked. */
export interface Doubt {
  readonly why: string;
  /** It is, or may be, at work. */
  readonly atWork?: true;
  /** Only a second sample can tell. */
  readonly unsampled?: true;
}

export interface JudgedProcess {
  readonly facts: ProcessFacts;
  readonly seen: Recognition;
  /** May differ from `seen.kind`: context turns a nameless child of an agent into an MCP server. */
  readonly kind: Kind;
  readonly agent: string | null;
  /** An agent with a session: its supervisor, a shared daemon and a dashboard have none. */
  readonly isSession: boolean;
  readonly name: string;
  readonly command: string;
  readonly ageSeconds: number | null;
  readonly depth: number;
  readonly owner: Owner | null;
  /** An agent below which the same server twice is one too many. */
  readonly servesOne?: boolean | undefined;
  /** null for everything but agents. */
  readonly session: AgentSession | null;
  readonly tmux: { readonly socket: string; readonly session: string; readonly pane: string } | null;
  readonly verdict: Verdict;
  readonly why: readonly string[];
  /** Of a suspect that would be a leak without it. */
  readonly doubt?: Doubt | undefined;
  readonly protection: 'hard' | 'soft' | null;
  /** Why it is protected; null when it is not. */
  readonly protectedBecause: string | null;
  /** What `claude stop` takes, of a background session; null or absent: it is none, or its job is not known. */
  readonly job?: string | null | undefined;
  /** Unreaped children that this process owes a wait. */
  readonly zombies: number;
  readonly related: boolean;
}

export interface Totals {
  readonly processes: number;
  readonly agents: number;
  readonly related: number;
  readonly rss: number;
  readonly swap: number;
  /** RSS + swap of everything with verdict leak. */
  readonly reclaimable: number;
  readonly leaks: number;
  readonly suspects: number;
  readonly zombies: number;
}

/** A judged moment: what every face of the product shows and every plan starts from. */
export interface Snapshot {
  readonly takenAt: number;
  readonly clock: number;
  readonly host: HostFacts;
  readonly self: Self | null;
  readonly totals: Totals;
  readonly warnings: readonly string[];
  /** Related processes, parents before children; every process with `all`. */
  readonly processes: readonly JudgedProcess[];
  readonly findings: readonly Finding[];
  readonly heartbeats: readonly Heartbeat[];
  readonly tmux: readonly TmuxServer[];
}

/** Would a second sample, a second after this one, tell more? */
export const awaitsSample = ({ processes }: Pick<Snapshot, 'processes'>): boolean =>
  processes.some(({ doubt }) => doubt?.unsampled === true);

export const identityOf = (p: JudgedProcess): Identity => ({ pid: p.facts.pid, start: p.facts.start });
