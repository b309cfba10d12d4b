import { join } from 'node:path';
import { type JudgedMoment, judge } from '../judge/judge.ts';
import type { Past } from '../judge/past.ts';
import { sessionsByProcess } from '../judge/rules/agent-records.ts';
import { Lineage, type LineageEntry } from '../judge/rules/lineage.ts';
import { detailQuestions, keysOf, relatedNodes } from '../judge/rules/related.ts';
import { growTree, isRunningAgent, type Node, type Tree } from '../judge/rules/tree.ts';
import type { Config } from '../model/config.ts';
import { type IdentityKey, keyOf } from '../model/identity.ts';
import type { ClaudeRecords, ClaudeSession, Look, Observation } from '../model/observation.ts';
import { createMcpConfigReader } from '../observe/files/mcp-config.ts';
import { SessionLogs } from '../observe/files/session-logs.ts';
import type { System } from '../observe/system.ts';
import { TimeSlice } from '../observe/time-slice.ts';
import { ActivityWatch } from './activity.ts';
import { type AgentFiles, NO_FILES, readAgentFiles, rootsFor } from './agent-files.ts';
import { Bystanders } from './bystanders.ts';
import { readClaudeRecords } from './claude-records.ts';
import { homeDirectory } from './config.ts';
import { configDirectories } from './config-directories.ts';
import { Environments } from './environments.ts';
import { loggingAgents } from './logging-agents.ts';
import { RecognitionCache } from './recognition-cache.ts';
import { SeenRoots } from './seen-roots.ts';
import { TmuxWatch } from './tmux-watch.ts';

/** Lineage that others wrote down: guard, and sessions that ended. */
export interface LineageMemory {
  /** What is new since the last look, and what was wrong with it. */
  recall(look: Look): {
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
  /** What is known of processes that nobody has seen below their agent in this run. */
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
  /** Where the files of agents are read from, this time. */
  files?: AgentFiles;
  /** A screen waits for it: what does not answer at once is unknown for now. */
  hurry?: boolean;
}

/** Configurations change by hand, not by the second. */
const SETTINGS_SECONDS = 10;

/** From a backend to a judged snapshot, again and again, with everything worth remembering in between. */
export class Collector {
  readonly lineage = new Lineage();
  readonly #options: CollectorOptions;
  readonly #bystanders = new Bystanders();
  readonly #environments = new Environments();
  readonly #tmux = new TmuxWatch();
  readonly #readServers = createMcpConfigReader();
  readonly #words: RecognitionCache;
  readonly #logs = new SessionLogs();
  readonly #activity = new ActivityWatch();
  #configWarnings: readonly string[] = [];
  #projects: readonly string[];
  readonly #roots = new SeenRoots();
  /** The pids that Claude's session files named at the last look. */
  #registered: ReadonlySet<number> = new Set();
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
    files = this.#options.files ?? NO_FILES,
  }: SampleOptions = {}): Promise<JudgedMoment> {
    const { system, config, env, roots, cwd, warnings = [] } = this.#options;
    const look = await system.look();
    const breath = new TimeSlice();
    const elsewhere = system.around?.();
    if (elsewhere === undefined) this.#learnServers(look.clock);
    const recalled = this.#options.memory?.recall(look);
    if (recalled !== undefined) this.lineage.adopt(recalled.entries);
    let { tree, related } = await this.#grow(look, { all, fresh }, breath);
    const tmux =
      elsewhere !== undefined
        ? { servers: elsewhere.tmux, warnings: [] }
        : await this.#tmux.panes(tree, look, env, { hurry, fresh });
    // An agent's project may configure servers that nothing else would have recognised.
    if (elsewhere === undefined && this.#learnProjects(tree))
      ({ tree, related } = await this.#grow(look, { all, fresh }, breath));
    this.#activity.attach(related, look.clock);
    this.#bystanders.remember(tree, related, look);
    system.follow(keysOf(related));
    this.#roots.note(this.#projects, look.clock);
    const { sessions, workers, strange } = elsewhere ?? this.#records(tree);
    this.#registered = new Set(sessions.map(({ pid }) => pid));
    await breath.due();
    const told =
      elsewhere === undefined
        ? await readAgentFiles(files, rootsFor(roots, cwd, this.#roots.all, env), sessions)
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
    await breath.due();
    const snapshot = judge({ observation, tree, config, lineage: this.lineage, related, past, all });
    this.lineage.record(tree, sessionIdsFrom(observation));
    return snapshot;
  }

  /** A tree whose nodes carry everything judging will ask for; with `all` of every process, else without bystanders. */
  async #grow(
    look: Look,
    { all, fresh }: { readonly all: boolean; readonly fresh: boolean },
    breath: TimeSlice,
  ): Promise<{ tree: Tree; related: ReadonlySet<Node> }> {
    const { system } = this.#options;
    const processes = all ? look.processes : this.#bystanders.leaveOut(look, this.lineage, this.#registered);
    await breath.due();
    const tree = growTree({ ...look, processes }, this.#words.recognise);
    await this.#environments.attach(tree, look, system, breath);
    await breath.due();
    const related = relatedNodes(tree, this.lineage);
    await breath.due();
    const details = await system.details(detailQuestions(related, look.self?.uid ?? null), { fresh });
    for (const node of related) {
      const found = details.get(keyOf(node.facts));
      if (found !== undefined) node.facts = { ...node.facts, details: found };
    }
    return { tree, related };
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
