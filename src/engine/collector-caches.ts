import { type PreparedKnowledge, prepareKnowledge, recognise } from '../judge/recognise/recognise.ts';
import type { Lineage } from '../judge/rules/lineage.ts';
import { environQuestions } from '../judge/rules/related.ts';
import type { Node, Tree } from '../judge/rules/tree.ts';
import type { UserRecogniser } from '../model/config.ts';
import { type IdentityKey, keyOf } from '../model/identity.ts';
import type { Recognition } from '../model/kind.ts';
import type { ConfiguredServer, Sample } from '../model/observation.ts';
import { type Activity, isZombie, type NamedEnv, type ProcessFacts } from '../model/process.ts';
import type { System } from '../observe/system.ts';
import type { Yielder } from '../observe/time-slice.ts';

/** One tick of the kernel's clock is 10 ms: over less than a second it says nothing about one percent. */
export const ACTIVITY_SECONDS = 1;

interface Mark {
  readonly clock: number;
  readonly cpuSeconds: number;
  readonly io: number;
}

/** What processes did between this sample and the last one that is at least a second old. */
export class ActivityWatch {
  #marks = new Map<IdentityKey, readonly Mark[]>();

  /** Puts the activity on every node whose work was asked for. */
  attach(nodes: Iterable<Node>, clock: number): void {
    const marks = new Map<IdentityKey, readonly Mark[]>();
    for (const node of nodes) {
      const { cpuSeconds, details } = node.facts;
      const io = details?.io ?? null;
      // An invented machine says itself what its processes do.
      if (cpuSeconds === null || io === null || node.facts.activity != null) continue;
      const now = { clock, cpuSeconds, io };
      const key = keyOf(node.facts);
      const earlier = (this.#marks.get(key) ?? []).filter(mark => mark.clock < clock);
      const old = earlier.filter(mark => clock - mark.clock >= ACTIVITY_SECONDS);
      const base = old.at(-1);
      node.facts = { ...node.facts, activity: base === undefined ? null : between(base, now) };
      // Older marks than the one that was compared with are never needed again.
      marks.set(key, [...(base === undefined ? [] : [base]), ...earlier.slice(old.length), now]);
    }
    this.#marks = marks;
  }
}

const between = (from: Mark, to: Mark): Activity => ({
  cpu: (100 * (to.cpuSeconds - from.cpuSeconds)) / (to.clock - from.clock),
  bytes: to.io - from.io,
});

interface ReadEnvironment {
  readonly start: string;
  /** The argv that was current when the environment was read: an exec replaces both. */
  readonly argv: readonly string[] | null;
  readonly env: NamedEnv | null;
}

/** Reading so many takes a few milliseconds. */
const BATCH = 100;

/** Environments, read once per identity and again after an exec, and put on the tree's nodes. */
export class Environments {
  /** By pid: five thousand identity keys a look would cost more than all that is done with them. */
  readonly #known = new Map<number, ReadEnvironment>();

  async attach(tree: Tree, look: Sample, system: System, breath: Yielder): Promise<void> {
    const questions = environQuestions(
      tree,
      look.self?.uid ?? null,
      node => this.#recall(node) !== undefined,
    );
    await breath.maybeYield();
    for (let from = 0; from < questions.length; from += BATCH) {
      await this.#ask(questions.slice(from, from + BATCH), system);
      await breath.maybeYield();
    }
    if (this.#known.size === 0) return;
    for (const node of tree.nodes) {
      const env = this.#recall(node)?.env ?? null;
      if (env !== null && node.facts.env !== env) node.facts = { ...node.facts, env };
    }
    if (this.#known.size > 2 * look.processes.length) this.#forgetEnded(look);
  }

  async #ask(questions: readonly Node[], system: System): Promise<void> {
    const answers = await system.environ(questions.map(node => node.facts));
    for (const { facts } of questions) {
      const { pid, start, argv } = facts;
      this.#known.set(pid, { start, argv, env: answers.get(keyOf(facts)) ?? null });
    }
  }

  #recall({ facts }: Node): ReadEnvironment | undefined {
    const known = this.#known.get(facts.pid);
    return known?.start === facts.start && known.argv === facts.argv ? known : undefined;
  }

  #forgetEnded(look: Sample): void {
    const present = new Set(look.processes.map(p => p.pid));
    for (const pid of this.#known.keys()) if (!present.has(pid)) this.#known.delete(pid);
  }
}

interface Recognised {
  readonly comm: string;
  readonly exe: string | null;
  readonly seen: Recognition;
}

/** Recognition with a memory: a process says the same about itself until it execs, and most never do. */
export class RecognitionCache {
  readonly #recognisers: readonly UserRecogniser[];
  #servers: readonly ConfiguredServer[] = [];
  #knowledge: PreparedKnowledge;
  /** By argv, which stays the same object until an exec, and which equal neighbours share. */
  #known = new WeakMap<readonly string[], Recognised>();

  constructor(recognisers: readonly UserRecogniser[]) {
    this.#recognisers = recognisers;
    this.#knowledge = prepareKnowledge({ recognisers, servers: [] });
  }

  /** True when the configured servers are others than before: everything must be recognised again. */
  learn(servers: readonly ConfiguredServer[]): boolean {
    if (
      servers.length === this.#servers.length &&
      servers.every((server, index) => server === this.#servers[index])
    )
      return false;
    this.#servers = servers;
    this.#knowledge = prepareKnowledge({ recognisers: this.#recognisers, servers });
    this.#known = new WeakMap();
    return true;
  }

  get servers(): readonly ConfiguredServer[] {
    return this.#servers;
  }

  readonly recognise = (facts: ProcessFacts): Recognition => {
    const { argv, comm, exe } = facts;
    if (argv === null) return recognise(facts, this.#knowledge);
    const known = this.#known.get(argv);
    if (known !== undefined && known.comm === comm && known.exe === exe) return known.seen;
    const seen = recognise(facts, this.#knowledge);
    this.#known.set(argv, { comm, exe, seen });
    return seen;
  };
}

/** Nothing that decides what it is or whose it is has changed. An exec replaces argv, even by the same words. */
const isAsBefore = (before: ProcessFacts, now: ProcessFacts): boolean =>
  before.start === now.start &&
  before.ppid === now.ppid &&
  before.argv === now.argv &&
  before.comm === now.comm &&
  before.uid === now.uid &&
  isZombie(before) === isZombie(now);

interface Grown {
  readonly tree: Tree;
  readonly related: ReadonlySet<Node>;
  readonly whole: boolean;
}

/** tmux servers are asked for their panes, and an unreadable process may be an owner: both stay in sight. */
const isBystander = (node: Node, related: ReadonlySet<Node>): boolean =>
  !related.has(node) && node.seen.role === null && !node.facts.unreadable;

/**
 * Processes that concern no agent, and cannot before they exec or get another parent. Growing and judging
 * a tree of 5,000 takes 15 ms a look; noticing that they are all the same takes one.
 */
export class UnrelatedCache {
  readonly #known = new Map<number, ProcessFacts>();
  #grown: Grown | null = null;

  /** Who has to be judged: everybody but the bystanders, and those above them. All, when a bystander has changed. */
  leaveOut(look: Sample, lineage: Lineage, registered: Iterable<number> = []): readonly ProcessFacts[] {
    if (this.#grown !== null) this.#learn(this.#grown);
    this.#grown = null;
    if (this.#known.size === 0) return look.processes;
    for (const key of lineage.entries().keys()) this.#known.delete(Number.parseInt(key, 10));
    // Whatever they look like, Claude lists them as sessions: they may be owners.
    for (const pid of registered) this.#known.delete(pid);
    const pending: ProcessFacts[] = [];
    for (const now of look.processes) {
      const before = this.#known.get(now.pid);
      if (before === undefined || now.pid === look.self?.pid) pending.push(now);
      else if (before !== now) {
        if (!isAsBefore(before, now)) return look.processes;
        this.#known.set(now.pid, now);
      }
    }
    const wanted = new Set(pending.map(p => p.pid));
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const above = this.#known.get(next.ppid ?? 0);
      if (above === undefined || wanted.has(above.pid)) continue;
      wanted.add(above.pid);
      pending.push(above);
    }
    return look.processes.filter(p => wanted.has(p.pid));
  }

  /** Keeps a tree that was grown, whole or not, to learn from it when there is another look: `--once` has none. */
  remember(tree: Tree, related: ReadonlySet<Node>, look: Sample): void {
    this.#grown = { tree, related, whole: tree.nodes.length === look.processes.length };
  }

  #learn({ tree, related, whole }: Grown): void {
    if (whole) this.#known.clear();
    for (const node of tree.nodes) {
      if (isBystander(node, related)) this.#known.set(node.facts.pid, node.facts);
      else this.#known.delete(node.facts.pid);
    }
  }

  /** Words mean something else from now on. */
  forget(): void {
    this.#grown = null;
    this.#known.clear();
  }
}
