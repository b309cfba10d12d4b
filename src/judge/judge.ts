import type { LoggedCall } from '../model/call.ts';
import type { Config } from '../model/config.ts';
import type { Reading } from '../model/heartbeat.ts';
import type { ClaudeSession, Observation, TmuxPane } from '../model/observation.ts';
import { isZombie, memoryOf, type ProcessFacts } from '../model/process.ts';
import type { AgentSession, JudgedProcess, Snapshot, Totals } from '../model/snapshot.ts';
import { quoteArgs } from '../model/text.ts';
import { withLateCalls } from './calls/hung.ts';
import { joinCalls } from './calls/join.ts';
import { findAll } from './findings/index.ts';
import { type JudgedFiles, judgeFiles } from './heartbeats/judge-files.ts';
import { NO_PAST, type Past } from './history.ts';
import { withoutRefused } from './plan/refuse.ts';
import { paneOf } from './rules/climb.ts';
import type { Lineage } from './rules/lineage.ts';
import { backgroundJob } from './rules/protect.ts';
import { relatedNodes } from './rules/related.ts';
import type { Node, Tree } from './rules/tree.ts';
import { type Judgement, judgeWith } from './rules/verdict.ts';
import {
  ageOf,
  strangeWarning,
  type VerdictContext,
  verdictContext,
  zombiesOf,
} from './rules/verdict-context.ts';

export interface JudgeInput {
  readonly observation: Observation;
  /** The tree of this very observation. */
  readonly tree: Tree;
  readonly config: Config;
  readonly lineage: Lineage;
  /** Those of this tree that concern an agent, by this lineage; the caller that read their details knows them already. */
  readonly related?: ReadonlySet<Node> | undefined;
  readonly past?: Past | undefined;
  /** Every process, not only related ones. */
  readonly all?: boolean | undefined;
}

/** A snapshot together with the joined files, which `sweep` plans from. */
export interface JudgedSnapshot extends Snapshot {
  readonly files: JudgedFiles;
}

/** The heart: an observation in, a judged snapshot out. Pure but for the lineage it is given to read. */
export const judge = ({
  observation,
  tree,
  config,
  lineage,
  related = relatedNodes(tree, lineage),
  past = NO_PAST,
  all = false,
}: JudgeInput): JudgedSnapshot => {
  const world = verdictContext({ observation, tree, config, lineage });
  const judgeNode = judgeWith(world, node => related.has(node));
  const judged: JudgedProcess[] = [];
  for (const { node, depth } of inOrder(tree, all ? new Set(tree.nodes) : related)) {
    judged.push(present(node, depth, judgeNode(node), related.has(node), world));
  }
  const processes = withLateCalls(withoutRefused(judged), { observation, config, past });
  const concerned = all ? processes.filter(p => p.related) : processes;
  const files = judgeFiles({
    readings: observation.readings,
    processes: concerned,
    tmux: observation.tmux,
    sessions: observation.sessions,
    config,
    past,
    now: observation.takenAt,
  });
  const { heartbeats } = files;
  const findings = findAll({ observation, config, past, processes: concerned, heartbeats, files });
  const totals = totalsOf(concerned, observation.processes.length);
  return {
    takenAt: observation.takenAt,
    clock: observation.clock,
    host: observation.host,
    self: observation.self,
    totals,
    warnings: [
      ...observation.warnings,
      ...strangeWarning(world.strangeFiles),
      ...recognitionWarning(concerned, observation.processes.length),
    ],
    processes,
    findings,
    heartbeats,
    files,
    tmux: observation.tmux,
  };
};

const present = (
  node: Node,
  depth: number,
  judgement: Judgement,
  related: boolean,
  world: VerdictContext,
): JudgedProcess => {
  const { facts, seen } = node;
  const pane = paneOf(world.climb(node));
  // Verdicts take a hub for a session: it owns what runs below it.
  const isSession = world.isSession(node) && seen.role !== 'session-hub';
  return {
    facts,
    seen,
    kind: node.kind,
    agent: node.agent,
    isSession,
    ...(node.kind === 'agent' ? { servesOne: world.servesOne(node) } : {}),
    name: seen.name,
    command: commandOf(node),
    ageSeconds: ageOf(facts, world.observation),
    depth,
    owner: judgement.ownership?.owner ?? null,
    session: isSession
      ? agentSession(
          node,
          {
            session: world.sessionOf(node),
            knownId: seen.sessionIds[0] ?? null,
            transcript: world.transcriptOf(node),
            pane,
            worker: world.worksThrough(node),
          },
          world.observation,
          world.tree,
        )
      : null,
    tmux: pane === null ? null : { socket: pane.socket, session: pane.session, pane: pane.pane },
    verdict: judgement.verdict,
    why: isInRemovedDirectory(node) ? [...judgement.why, REMOVED] : judgement.why,
    doubt: judgement.doubt,
    protection: judgement.protection,
    protectedBecause: judgement.protectedBecause,
    zombies: zombiesOf(node).length,
    related,
    ...(node.kind === 'agent' ? { job: backgroundJob(node, world) } : {}),
  };
};

/** A removed work tree, as a rule. It hints at what was left over, and proves nothing: a verdict stays as it is. */
const REMOVED = 'the directory it runs in was removed: it may be left over from there';

/** As the kernel names one. */
const isInRemovedDirectory = ({ facts, kind }: Node): boolean =>
  kind !== 'agent' && facts.details?.cwd?.endsWith(' (deleted)') === true;

const DEFUNCT = '<defunct>';

const commandOf = ({ facts }: Node): string => {
  // macOS keeps no name of a zombie.
  if (isZombie(facts)) return facts.comm === DEFUNCT ? DEFUNCT : `[${facts.comm}] ${DEFUNCT}`;
  return facts.argv === null || facts.argv.length === 0 ? `[${facts.comm}]` : quoted(facts.argv);
};

/** An argv is the same object until an exec: what it reads like is made once, not at every look. */
const quotedArgs = new WeakMap<readonly string[], string>();

const quoted = (argv: readonly string[]): string => {
  const known = quotedArgs.get(argv);
  if (known !== undefined) return known;
  const line = quoteArgs(argv);
  quotedArgs.set(argv, line);
  return line;
};

export const totalsOf = (related: readonly JudgedProcess[], processes: number): Totals => {
  const running = related.filter(p => !isZombie(p.facts));
  const leaks = running.filter(p => p.verdict === 'leak');
  return {
    processes,
    agents: running.filter(p => p.isSession).length,
    related: related.length,
    rss: sum(related, p => p.facts.rss ?? 0),
    swap: sum(related, p => p.facts.details?.swap ?? 0),
    reclaimable: sum(leaks, p => memoryOf(p.facts)),
    leaks: leaks.length,
    suspects: running.filter(p => p.verdict === 'suspect').length,
    zombies: related.length - running.length,
  };
};

const sum = (items: readonly JudgedProcess[], value: (p: JudgedProcess) => number): number =>
  items.reduce((total, item) => total + value(item), 0);

/** A matcher that rots must not look like a clean machine. */
const recognitionWarning = (related: readonly JudgedProcess[], processes: number): string[] =>
  related.some(p => p.kind === 'agent' || p.verdict === 'leak' || p.verdict === 'suspect')
    ? []
    : related.length === 0
      ? [`0 recognised of ${processes} processes`]
      : [];

/** Written to within this time, a transcript or a pane belongs to an agent at work. */
const BUSY_SECONDS = 30;

/** What Claude's own words for a session's state mean to its user. */
const DOING: Readonly<Record<string, AgentSession['doing']>> = {
  busy: 'busy',
  // At its prompt, with a shell in the background.
  shell: 'idle',
  working: 'busy',
  idle: 'idle',
  waiting: 'waiting',
  blocked: 'waiting',
};

export interface AgentSigns {
  readonly session: ClaudeSession | null;
  /** The id it was started with, where no registry has it. */
  readonly knownId: string | null;
  readonly transcript: Reading | null;
  readonly pane: TmuxPane | null;
  /** What works for it while it is silent itself: its build. */
  readonly worker?: Node | null;
}

/** A member of a team is started with its name. */
const teammateName = ({ argv }: ProcessFacts): string | null => {
  const at = argv?.indexOf('--agent-name') ?? -1;
  return at === -1 ? null : (argv?.[at + 1] ?? null);
};

/** Which session an agent is and what it is doing, by the best sign there is. Only its own record says that it waits. */
export const agentSession = (
  agent: Node,
  signs: AgentSigns,
  observation: Observation,
  tree: Tree | null = null,
): AgentSession => {
  const { session, knownId, transcript, pane, worker = null } = signs;
  const { takenAt } = observation;
  const cwd = session?.cwd ?? agent.facts.details?.cwd ?? null;
  const since = (at: number | null): number | null =>
    at === null ? null : Math.max(0, (takenAt - at) / 1000);
  const told = session?.status == null ? undefined : DOING[session.status];
  const still =
    told === undefined
      ? since(transcript?.mtime ?? (pane?.activity == null ? null : pane.activity * 1000))
      : null;
  const own = told ?? (still === null ? null : still <= BUSY_SECONDS ? 'busy' : 'idle');
  // Claude calls a session that has a shell in the background, and is at its prompt, by that.
  const atPrompt = session?.status === 'idle' || session?.status === 'shell';
  const logged = transcript?.calls;
  const calls =
    logged === undefined ? [] : atPrompt ? [] : joinCalls(agent, logged.pending, observation, tree);
  const unfinished = unfinishedIn(agent, signs, observation);
  const throughOther = own === 'idle' && (worker !== null || calls.length > 0);
  return {
    id: session?.sessionId ?? transcript?.logId ?? knownId,
    project: cwd === null ? null : cwd.slice(cwd.lastIndexOf('/') + 1) || cwd,
    name: session?.name ?? teammateName(agent.facts),
    doing: throughOther ? 'busy' : own,
    waitingFor: told === 'waiting' ? (session?.waitingFor ?? null) : null,
    seconds: throughOther ? null : told === undefined ? still : since(session?.statusUpdatedAt ?? null),
    ...(unfinished === undefined ? {} : { unfinished }),
    ...(session?.status === 'shell' && !throughOther ? { shell: true as const } : {}),
    ...(logged === undefined
      ? {}
      : { calls, model: logged.model, context: logged.tokens === null ? null : { tokens: logged.tokens } }),
  };
};

/** A subagent that has written nothing for this long has ended. */
const SUBAGENT_MS = 10 * 60 * 1000;

/** Clocks of logs and processes differ by so much. */
const BORN_TOLERANCE_MS = 2000;

/** What a session's own records say goes on in it; null: nothing; undefined: they do not tell. */
const unfinishedIn = (
  { agent, facts }: Node,
  { session, transcript }: AgentSigns,
  { takenAt, clock }: Observation,
): string | null | undefined => {
  const logged = transcript?.calls;
  if (logged === undefined) return undefined;
  const bornAt = facts.born === null ? 0 : takenAt - (clock - facts.born) * 1000 - BORN_TOLERANCE_MS;
  // A call from before its start was another's, that was killed amid it.
  const isOpen = ({ startedAt }: LoggedCall): boolean => startedAt === null || startedAt >= bornAt;
  if (logged.pending.some(isOpen)) return 'a call is pending';
  if (agent !== 'claude')
    // An id of its command line may be that of an earlier session.
    return logged.turn === undefined || transcript?.logId === undefined
      ? undefined
      : logged.turn === 'over'
        ? null
        : 'its turn is not over';
  if (session === null || session.kind === null) return undefined;
  if (session.kind !== 'interactive') return `it is not interactive (${session.kind})`;
  if (session.status === 'shell') return 'a shell of it runs in the background';
  if (session.status !== 'idle') return undefined;
  if (logged.behind === 'unread') return undefined;
  const subagentAt = transcript?.subagentAt ?? null;
  if (logged.behind?.some(isOpen) || (subagentAt !== null && takenAt - subagentAt < SUBAGENT_MS))
    return 'a subagent of it may not have finished';
  return null;
};

interface Placed {
  readonly node: Node;
  readonly depth: number;
}

/** Shown processes with their depth among the shown ones; parents before children, each exactly once. */
const inOrder = (tree: Tree, shown: ReadonlySet<Node>): readonly Placed[] => {
  // Of thousands of processes a few are shown: only the ways that lead to them are walked.
  const ways = new Set<Node>();
  for (const node of shown)
    for (let up: Node | null = node; up !== null && !ways.has(up); up = up.parent) ways.add(up);
  const placed: Placed[] = [];
  for (const root of tree.nodes) {
    if (root.parent !== null || !ways.has(root)) continue;
    // A hidden process passes on the depth of the one above it.
    const pending: Placed[] = [{ node: root, depth: 0 }];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const { node, depth } = next;
      const isShown = shown.has(node);
      if (isShown) placed.push(next);
      const below = isShown ? depth + 1 : depth;
      for (let index = node.children.length - 1; index >= 0; index -= 1) {
        const child = node.children[index]!;
        if (ways.has(child)) pending.push({ node: child, depth: below });
      }
    }
  }
  return placed;
};
