import type { Config } from '../model/config.ts';
import type { Observation } from '../model/observation.ts';
import { isZombie, memoryOf } from '../model/process.ts';
import type { JudgedProcess, Snapshot, Totals } from '../model/snapshot.ts';
import { quoteArgs } from '../model/text.ts';
import { agentSession } from './agent-session.ts';
import { findAll } from './findings/index.ts';
import { type JudgedFiles, judgeFiles } from './heartbeats/index.ts';
import { inOrder } from './in-order.ts';
import { NO_PAST, type Past } from './past.ts';
import { withoutRefused } from './plan/refuse.ts';
import { worksThrough } from './rules/at-work.ts';
import { paneOf } from './rules/climb.ts';
import type { Lineage } from './rules/lineage.ts';
import { backgroundJob } from './rules/protect.ts';
import { relatedNodes } from './rules/related.ts';
import { strangeWarning } from './rules/strange-files.ts';
import type { Node, Tree } from './rules/tree.ts';
import { type Judgement, judgeWith } from './rules/verdict.ts';
import { ageOf, buildWorld, type World, zombiesOf } from './rules/world.ts';

export interface JudgeInput {
  readonly observation: Observation;
  /** The tree of this very observation. */
  readonly tree: Tree;
  readonly config: Config;
  readonly lineage: Lineage;
  /** Those of this tree that concern an agent, by this lineage; whoever asked their details knows them already. */
  readonly related?: ReadonlySet<Node> | undefined;
  readonly past?: Past | undefined;
  /** Every process, not only related ones. */
  readonly all?: boolean | undefined;
}

/** A snapshot together with the joined files, which `sweep` plans from. */
export interface JudgedMoment extends Snapshot {
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
}: JudgeInput): JudgedMoment => {
  const world = buildWorld({ observation, tree, config, lineage });
  const judgeNode = judgeWith(world, node => related.has(node));
  const judged: JudgedProcess[] = [];
  for (const { node, depth } of inOrder(tree, all ? new Set(tree.nodes) : related)) {
    judged.push(present(node, depth, judgeNode(node), related.has(node), world));
  }
  const processes = withoutRefused(judged);
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
  world: World,
): JudgedProcess => {
  const { facts, seen } = node;
  const pane = paneOf(world.climb(node));
  return {
    facts,
    seen,
    kind: node.kind,
    agent: node.agent,
    isSession: world.isSession(node),
    ...(node.kind === 'agent' ? { servesOne: world.servesOne(node) } : {}),
    name: seen.name,
    command: commandOf(node),
    ageSeconds: ageOf(facts, world.observation),
    depth,
    owner: judgement.ownership?.owner ?? null,
    session: world.isSession(node)
      ? agentSession(
          node,
          {
            session: world.sessionOf(node),
            knownId: seen.sessionIds[0] ?? null,
            transcript: world.transcriptOf(node),
            pane,
            worker: worksThrough(node, world.observation),
          },
          world.observation,
        )
      : null,
    tmux: pane === null ? null : { socket: pane.socket, session: pane.session, pane: pane.pane },
    verdict: judgement.verdict,
    why: judgement.why,
    doubt: judgement.doubt,
    protection: judgement.protection,
    protectedBecause: judgement.protectedBecause,
    zombies: zombiesOf(node).length,
    related,
    ...(node.kind === 'agent' ? { job: backgroundJob(node, world) } : {}),
  };
};

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

const totalsOf = (related: readonly JudgedProcess[], processes: number): Totals => {
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
