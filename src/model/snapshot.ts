import { type Call, callsText } from './call.ts';
import type { Finding } from './finding.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { Identity, IdentityKey } from './identity.ts';
import type { Kind, Recognition } from './kind.ts';
import type { HostFacts, Self, TmuxServer } from './observation.ts';
import type { ProcessFacts } from './process.ts';
import { cells, cut } from './text.ts';
import { formatAge } from './units.ts';

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
  /** The last part of its directory, where it was seen there. */
  readonly project?: string | undefined;
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
  /**
   * What of it is not finished; null: by its own records it is at its prompt, and nothing of it goes on. Absent: that is
   * not known.
   */
  readonly unfinished?: string | null | undefined;
  /** What it waits for. Absent: its log was not read, or does not tell. */
  readonly calls?: readonly Call[] | undefined;
  /** At its prompt, while a shell of it runs in the background. */
  readonly shell?: true | undefined;
  readonly model?: string | null | undefined;
  /** How much of the conversation its model was last given. */
  readonly context?: { readonly tokens: number } | null | undefined;
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

/** What a recording says of a process that is not in its facts. */
export type ProcessThen = Partial<Pick<JudgedProcess, 'kind' | 'agent' | 'name' | 'related'>> &
  Pick<
    JudgedProcess,
    'owner' | 'session' | 'isSession' | 'verdict' | 'why' | 'protection' | 'protectedBecause'
  >;

/** What was judged when a recording was made, from more than it holds. */
export interface JudgedThen {
  readonly processes: ReadonlyMap<IdentityKey, ProcessThen>;
  /** null: it does not say. */
  readonly findings: readonly Finding[] | null;
  readonly heartbeats: readonly Heartbeat[] | null;
  readonly warnings: readonly string[];
  /** How many processes ran; null: it does not say. */
  readonly count: number | null;
}

/** Would a second sample, a second after this one, tell more? */
export const awaitsSample = ({ processes }: Pick<Snapshot, 'processes'>): boolean =>
  processes.some(({ doubt }) => doubt?.unsampled === true);

/** Would more samples tell whether a call hangs? */
export const awaitsCalls = ({ processes }: Pick<Snapshot, 'processes'>): boolean =>
  processes.some(({ session }) => session?.calls?.some(call => call.unsampled === true));

export const identityOf = (p: JudgedProcess): Identity => ({ pid: p.facts.pid, start: p.facts.start });

/** How every sentence names a process: `claude (260)`. */
export const nameAndPid = (name: string, pid: number): string => `${name} (${pid})`;

export const label = ({ name, facts }: Pick<JudgedProcess, 'name' | 'facts'>): string =>
  nameAndPid(name, facts.pid);

/** Why nobody is brought to its pane: it has none, or a server that would know has not answered. */
export const whyNoPane = (name: string, { tmux }: Pick<Snapshot, 'tmux'>): string =>
  tmux.every(({ reachable }) => reachable)
    ? `${name} is not in a tmux pane.`
    : `${name} may be in a tmux pane: tmux has not answered yet.`;

/** Four letters, so that the verdict is read and not guessed from a colour. */
export const VERDICT_WORDS = {
  live: 'live',
  leak: 'LEAK',
  suspect: 'susp',
  protected: 'prot',
  unknown: '?',
} satisfies Record<Verdict, string>;

/** `“fix the lemma”`; empty where it has no name of its own. */
const sessionTitle = ({ project, name }: AgentSession): string =>
  name === null || name === project ? '' : `“${name}”`;

/** `proofs`, or `proofs “fix the lemma”` when the session has a name of its own. */
export const sessionName = (session: AgentSession): string =>
  [session.project ?? '', sessionTitle(session)].filter(Boolean).join(' ');

const since = (seconds: number | null): string => (seconds === null ? '' : ` ${formatAge(seconds)}`);

/** `busy: Bash 12s`, `idle 40m`, `waits for you: permission prompt 12m`; empty when unknown. */
export const sessionDoing = ({ doing, waitingFor, seconds, calls = [], shell }: AgentSession): string => {
  if (doing === null) return '';
  if (doing === 'busy') return callsText(calls) || 'busy';
  if (doing === 'idle') return `idle${since(seconds)}${shell === true ? ', with a shell' : ''}`;
  return `waits for you${waitingFor === null ? '' : `: ${waitingFor}`}${since(seconds)}`;
};

/** The same in few cells: `busy: Bash 12s`, `idle 40m`, `waits 12m`. */
export const sessionBrief = ({ doing, seconds, calls = [] }: AgentSession): string => {
  if (doing === null) return '';
  if (doing === 'busy') return callsText(calls, true) || 'busy';
  return `${doing === 'idle' ? 'idle' : 'waits'}${since(seconds)}`;
};

/** Fewer cells of a project's name than this tell nothing. */
export const LEAST_PROJECT = 3;

/** What there is room for, and what stands in place of the rest. */
export interface Room {
  readonly cells: number;
  readonly ellipsis: string;
}

const ENDLESS: Room = { cells: Number.POSITIVE_INFINITY, ellipsis: '' };

/** The project is cut, what it is doing is not. */
const squeezed = (project: string, brief: string, { cells: room, ellipsis }: Room): string => {
  const left = room - cells(brief) - 2;
  return left < LEAST_PROJECT ? brief : `${cut(project, left, ellipsis)}: ${brief}`;
};

/** `proofs “fix the lemma”: waits for you: permission prompt 12m`, or as much of that as fits, what it does above all. */
export const sessionText = (session: AgentSession, room = ENDLESS): string => {
  const joined = (...parts: readonly string[]): string => parts.filter(Boolean).join(': ');
  const project = session.project ?? '';
  const doing = sessionDoing(session);
  const brief = sessionBrief(session);
  const name = sessionName(session);
  const ways = [joined(name, doing), joined(project, doing), joined(name, brief), joined(project, brief)];
  return (
    ways.find(way => cells(way) <= room.cells) ?? (brief === '' ? ways[0]! : squeezed(project, brief, room))
  );
};

/** For a plan that would end it: `busy now`, `last active 40m ago`, `waits for you 12m`. */
export const sessionLastActive = (session: AgentSession): string => {
  if (session.doing === 'busy') return 'busy now';
  if (session.doing === 'idle' && session.seconds !== null)
    return `last active ${formatAge(session.seconds)} ago`;
  return sessionDoing(session);
};
