import { join } from 'node:path';
import { isSessionless } from '../agents/families.ts';
import { sessionLogOf } from '../agents/session-logs.ts';
import type { Past } from '../judge/history.ts';
import { type JudgedSnapshot, judge } from '../judge/judge.ts';
import { asJudgedThen, relatedThen } from '../judge/judged-then.ts';
import { sessionsByProcess } from '../judge/rules/agent-records.ts';
import { Lineage, type LineageEntry } from '../judge/rules/lineage.ts';
import { detailQuestions, keysOf, relatedNodes } from '../judge/rules/related.ts';
import { growTree, isRunningAgent, type Node, type Tree } from '../judge/rules/tree.ts';
import type { Config } from '../model/config.ts';
import { type IdentityKey, keyOf } from '../model/identity.ts';
import type { ClaudeRecords, ClaudeSession, Observation, Sample } from '../model/observation.ts';
import { isZombie, type ProcessFacts } from '../model/process.ts';
import { awaitsCalls, awaitsSample } from '../model/snapshot.ts';
import { CallReader } from '../observe/files/call-reader.ts';
import { readClaudeRosters, readClaudeSessions } from '../observe/files/claude-sessions.ts';
import { createMcpConfigReader } from '../observe/files/mcp-config.ts';
import { type LoggingAgent, SessionLogs } from '../observe/files/session-logs.ts';
import type { System } from '../observe/system.ts';
import { Yielder } from '../observe/time-slice.ts';
import { type AgentFiles, NO_FILES, readAgentFiles, rootsFor } from './agent-files.ts';
import {
  ACTIVITY_SECONDS,
  ActivityWatch,
  Environments,
  RecognitionCache,
  UnrelatedCache,
} from './collector-caches.ts';
import { History } from './history.ts';
import { homeDirectory } from './load-config.ts';
import { TmuxWatch } from './tmux-watch.ts';

/** What Claude writes about its sessions, in the foreground and in the background. */
export const readClaudeRecords = (configDirs: readonly string[]): ClaudeRecords => {
  const { sessions, strange } = readClaudeSessions(configDirs);
  const rosters = readClaudeRosters(configDirs);
  return { sessions, workers: rosters.workers, strange: [...strange, ...rosters.strange] };
};

/** Ours, and that of every agent found: sessions of another CLAUDE_CONFIG_DIR are live as well. */
const configDirectories = (tree: Tree, env: NodeJS.ProcessEnv): readonly string[] => {
  const directories = new Set<string>();
  const add = (config: string | undefined, home: string | null | undefined): void => {
    if (config !== undefined && config !== '') directories.add(config);
    else if (home) directories.add(join(home, '.claude'));
  };
  add(env.CLAUDE_CONFIG_DIR, homeDirectory(env));
  for (const { facts } of tree.nodes.filter(isRunningAgent))
    add(facts.env?.CLAUDE_CONFIG_DIR, facts.env?.HOME);
  return [...directories];
};

/** Its arguments count, its name does not. */
const asClaude = (facts: ProcessFacts): ProcessFacts => ({
  ...facts,
  comm: 'claude',
  exe: null,
  argv: ['claude', ...(facts.argv ?? []).slice(1)],
});

/** Our user's agents whose families write their sessions down: other users' agents are not examined. */
const loggingAgents = (tree: Tree, look: Sample, env: NodeJS.ProcessEnv): LoggingAgent[] =>
  tree.nodes.flatMap(node => {
    const { facts, agent, seen } = node;
    if (!isRunningAgent(node) || agent === null || sessionLogOf(agent) === null) return [];
    if (look.self === null || facts.uid !== look.self.uid) return [];
    return [
      {
        pid: facts.pid,
        start: facts.start,
        agent,
        cwd: facts.details?.cwd ?? null,
        home: facts.env?.HOME ?? homeDirectory(env),
        born: facts.born === null ? null : look.takenAt - (look.clock - facts.born) * 1000,
        holds: facts.details?.holds ?? [],
        daemon: isSessionless(seen.role),
      },
    ];
  });

/** A root once seen is watched for a day: a dead agent's marker, lock or deadlock stays a finding. */
const KEPT_SECONDS = 86_400;

/** Agents come and go in ever new worktrees; each root costs a watch. The longest unseen falls out. */
const MOST_ROOTS = 200;

/** The directories that agents have worked in, for as long as what they left there matters. */
export class SeenRoots {
  /** By path, oldest sighting first: the clock of the last one. */
  readonly #seen = new Map<string, number>();

  note(directories: readonly string[], clock: number): void {
    for (const directory of directories) {
      this.#seen.delete(directory);
      this.#seen.set(directory, clock);
    }
    for (const [directory, at] of this.#seen)
      if (clock - at > KEPT_SECONDS || this.#seen.size > MOST_ROOTS) this.#seen.delete(directory);
      else break;
  }

  get all(): readonly string[] {
    return [...this.#seen.keys()];
  }
}

/** Lineage that others wrote down: guard, and sessions that ended. */
export interface LineageMemory {
  /** What is new since the last look, and what was wrong with it. */
  recall(look: Sample): {
    readonly entries: readonly (readonly [IdentityKey, LineageEntry])[];
    readonly warnings: readonly string[];
  };
}

export interface CollectorOptions {
  readonly system: System;
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** `--root`; undefined: the cwd and the cwd of every agent. */
  readonly roots?: readonly string[] | undefined;
  /** Where heartbeat files are read from; none for a recorded table. */
  readonly files?: AgentFiles;
  /** What is known of processes that this run has not seen below their agent. */
  readonly memory?: LineageMemory | undefined;
  /** Sessions that are known to live though Claude has not written them down yet: the one whose hook this is. */
  readonly alsoLive?: readonly ClaudeSession[] | undefined;
  /** Things to say with every snapshot, such as an ignored project file. */
  readonly warnings?: readonly string[];
}

export interface SampleOptions {
  /** Every process, not only related ones. */
  all?: boolean;
  past?: Past;
  /** What decides about a signal is read now, never taken from a cache. */
  fresh?: boolean;
  /** Who uses what, and what works, is also asked of what is below a live agent: it may be put to sleep. */
  closely?: boolean;
  /** Where the files of agents are read from, this time. */
  files?: AgentFiles;
  /** A screen waits for it: what does not answer at once is unknown for now. */
  hurry?: boolean;
  /** Nothing else runs in this process: it may stand still while tmux answers. */
  alone?: boolean;
}

/** Configurations change by hand, not by the second. */
const SETTINGS_SECONDS = 10;

/** From a backend to a judged snapshot, again and again, with everything worth remembering in between. */
export class Collector {
  readonly lineage = new Lineage();
  readonly #options: CollectorOptions;
  readonly #bystanders = new UnrelatedCache();
  readonly #environments = new Environments();
  readonly #tmux = new TmuxWatch();
  readonly #readServers = createMcpConfigReader();
  readonly #words: RecognitionCache;
  readonly #calls = new CallReader();
  readonly #logs = new SessionLogs(this.#calls);
  readonly #activity = new ActivityWatch();
  #configWarnings: readonly string[] = [];
  #projects: readonly string[];
  readonly #roots = new SeenRoots();
  /** The pids that Claude's session files named at the last look. */
  #registered: ReadonlySet<number> = new Set();
  /** Claude under another file name, as its own session file says. */
  readonly #renamed = new Set<IdentityKey>();
  #settingsRead = Number.NEGATIVE_INFINITY;

  constructor(options: CollectorOptions) {
    this.#options = options;
    this.#words = new RecognitionCache(options.config.recognisers);
    this.#projects = [options.cwd];
  }

  async collect({
    all = false,
    past,
    hurry = false,
    fresh = false,
    closely = false,
    alone = false,
    files = this.#options.files ?? NO_FILES,
  }: SampleOptions = {}): Promise<JudgedSnapshot> {
    const { system, config, env, roots, cwd, warnings = [] } = this.#options;
    const look = await system.sample({ whole: fresh });
    const breath = new Yielder();
    const elsewhere = system.inventedRecords?.();
    if (elsewhere === undefined) this.#learnServers(look.clock);
    const recalled = this.#options.memory?.recall(look);
    if (recalled !== undefined) this.lineage.adopt(recalled.entries);
    let { tree, related } = await this.#grow(look, { all, fresh, closely }, breath);
    const tmux =
      elsewhere !== undefined
        ? { servers: elsewhere.tmux, warnings: [] }
        : await this.#tmux.panes(tree, look, env, { hurry, fresh, alone });
    // An agent's project may configure servers that nothing else would have recognised.
    if (elsewhere === undefined && this.#learnProjects(tree))
      ({ tree, related } = await this.#grow(look, { all, fresh, closely }, breath));
    const { sessions, workers, strange } = elsewhere ?? this.#records(tree);
    if (this.#learnRenamed(tree, look, sessions))
      ({ tree, related } = await this.#grow(look, { all, fresh, closely }, breath));
    this.#activity.attach(related, look.clock);
    this.#bystanders.remember(tree, related, look);
    system.follow(keysOf(related));
    this.#roots.note(this.#projects, look.clock);
    this.#registered = new Set(sessions.map(({ pid }) => pid));
    await breath.maybeYield();
    this.#calls.begin();
    const told =
      elsewhere === undefined
        ? await readAgentFiles(files, rootsFor(roots, cwd, this.#roots.all, env), sessions, this.#calls)
        : { readings: elsewhere.readings, warnings: [] };
    const logs =
      elsewhere === undefined ? this.#logs.readings(loggingAgents(tree, look, env), look.takenAt, fresh) : [];
    const observation: Observation = {
      ...look,
      warnings: [
        ...warnings,
        ...this.#configWarnings,
        ...look.warnings,
        ...(recalled?.warnings ?? []),
        ...tmux.warnings,
        ...told.warnings,
      ],
      tmux: tmux.servers,
      sessions,
      workers,
      strange,
      servers: this.#words.servers,
      readings: logs.length === 0 ? told.readings : [...told.readings, ...logs],
    };
    await breath.maybeYield();
    const judged = judge({
      observation,
      tree,
      config,
      lineage: this.lineage,
      related: elsewhere?.judged === undefined ? related : relatedThen(tree, related, elsewhere.judged),
      past,
      all,
    });
    const snapshot = elsewhere?.judged === undefined ? judged : asJudgedThen(judged, elsewhere.judged);
    this.lineage.record(tree, sessionIdsFrom(observation));
    return snapshot;
  }

  /** A tree whose nodes carry everything judging will ask for; with `all` of every process, else without bystanders. */
  async #grow(
    look: Sample,
    { all, fresh, closely }: Required<Pick<SampleOptions, 'all' | 'fresh' | 'closely'>>,
    breath: Yielder,
  ): Promise<{ tree: Tree; related: ReadonlySet<Node> }> {
    const { system } = this.#options;
    const processes = all ? look.processes : this.#bystanders.leaveOut(look, this.lineage, this.#registered);
    await breath.maybeYield();
    const tree = growTree({ ...look, processes }, facts =>
      this.#renamed.has(keyOf(facts)) ? this.#words.recognise(asClaude(facts)) : this.#words.recognise(facts),
    );
    await this.#environments.attach(tree, look, system, breath);
    await breath.maybeYield();
    const related = relatedNodes(tree, this.lineage);
    await breath.maybeYield();
    const questions = detailQuestions(related, look.self?.uid ?? null, closely);
    const details = await system.details(questions, { fresh });
    for (const node of related) {
      const found = details.get(keyOf(node.facts));
      if (found !== undefined) node.facts = { ...node.facts, details: found };
    }
    return { tree, related };
  }

  /** True when a session file names a process, by pid and start, that nothing else says is an agent. */
  #learnRenamed(tree: Tree, look: Sample, sessions: readonly ClaudeSession[]): boolean {
    if (look.host.backend !== 'procfs') return false;
    const found = sessions.flatMap(({ pid, procStart }) => {
      const node = tree.byPid.get(pid);
      const isUnknown = node?.kind === 'other' && node.seen.family === null && !isZombie(node.facts);
      return isUnknown && node.facts.start === procStart ? [keyOf(node.facts)] : [];
    });
    const known = this.#renamed.size;
    for (const key of found) this.#renamed.add(key);
    if (this.#renamed.size === known) return false;
    this.#bystanders.forget();
    return true;
  }

  #learnServers(clock: number): boolean {
    if (clock - this.#settingsRead < SETTINGS_SECONDS) return false;
    this.#settingsRead = clock;
    const home = homeDirectory(this.#options.env);
    if (home === null) return false;
    const { servers, warnings } = this.#readServers({
      home,
      configDirs: [join(home, '.claude')],
      projects: this.#projects,
    });
    this.#configWarnings = warnings;
    const learned = this.#words.learn(servers);
    if (learned) this.#bystanders.forget();
    return learned;
  }

  /** True when agents run in directories we had not looked into, and these configure servers. */
  #learnProjects(tree: Tree): boolean {
    const found = tree.nodes.filter(isRunningAgent).flatMap(node => node.facts.details?.cwd ?? []);
    const known = new Set(this.#projects);
    this.#projects = [...new Set([this.#options.cwd, ...found])];
    if (this.#projects.every(project => known.has(project))) return false;
    this.#settingsRead = Number.NEGATIVE_INFINITY;
    return this.#learnServers(0);
  }

  #records(tree: Tree): ClaudeRecords {
    const { alsoLive = [] } = this.#options;
    const records = readClaudeRecords(configDirectories(tree, this.#options.env));
    const unwritten = alsoLive.filter(({ pid, procStart }) =>
      records.sessions.every(session => session.pid !== pid || session.procStart !== procStart),
    );
    return unwritten.length === 0 ? records : { ...records, sessions: [...records.sessions, ...unwritten] };
  }
}

const sessionIdsFrom = (observation: Observation): ((agent: Node) => string | null) => {
  const sessionOf = sessionsByProcess(observation);
  return agent => sessionOf(agent)?.sessionId ?? agent.seen.sessionIds[0] ?? null;
};

/** After this long, work is known. The kernel tells its uptime in steps of 10 ms. */
export const ACTIVITY_MS = 1000 * ACTIVITY_SECONDS + 20;

export const rest = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

/** Between samples that only a call hangs on. */
const CALL_MS = 400;

/** One sample, a second one only where a verdict hangs on it, and a third where a call does. */
export const sampleWhole = async (collector: Collector, all: boolean): Promise<JudgedSnapshot> => {
  const past = new History();
  const first = await collector.collect({ all, past, alone: true });
  if (!awaitsSample(first) && !awaitsCalls(first)) return first;
  past.record(first);
  await rest(ACTIVITY_MS);
  const second = await collector.collect({ all, past, alone: true });
  if (!awaitsCalls(second)) return second;
  past.record(second);
  await rest(CALL_MS);
  return collector.collect({ all, past, alone: true });
};
