import { copyToTmux } from '../act/tmux/copy.ts';
import { jumpToPane } from '../act/tmux/jump.ts';
import type { Collector } from '../collect/collector.ts';
import { History } from '../collect/history.ts';
import { saveSettings } from '../collect/save-settings.ts';
import { weigh } from '../collect/weigh.ts';
import { withLeaksSeenTwice } from '../judge/rules/confirm.ts';
import type { Config } from '../model/config.ts';
import { type Identity, type IdentityKey, keyOf } from '../model/identity.ts';
import type { Settings } from '../model/look.ts';
import type { Outcome, Plan } from '../model/plan.ts';
import { memoryOf } from '../model/process.ts';
import type { JudgedProcess, Snapshot } from '../model/snapshot.ts';
import { stateDirectory } from '../observe/state/state-directory.ts';
import type { System } from '../observe/system.ts';
import { turnOfLoop } from '../observe/time-slice.ts';
import { calls } from '../words/process.ts';
import { ActLog } from './act-log.ts';
import { AgentCourses } from './agent-courses.ts';
import { Alerting } from './alerts.ts';
import { exportScreen } from './export-screen.ts';
import { FindingLog } from './finding-log.ts';
import { Fixer } from './fixer.ts';
import type { ActRequest, Live, LiveState, LogLine, MemoryPoint, ShownAgain } from './live.ts';
import { type News, NewsDesk } from './news.ts';
import { performPlan } from './performer.ts';
import { planRequest } from './planner.ts';
import { Sampler } from './sampler.ts';

export interface LiveEngineOptions {
  readonly collector: Collector;
  readonly system: System;
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
  readonly intervalSeconds: number;
  readonly all: boolean;
  /** Where the setup screen saves to; null: there is no home. */
  readonly configPath?: string | null;
  /** What happened before; the end of the audit log when absent. */
  readonly log?: readonly LogLine[];
  /** Where acts are recorded; null: nowhere, because nothing real is done. */
  readonly stateDirectory?: string | null;
  /** How long a process may take to obey TERM; the default of every act when absent. */
  readonly graceMs?: number | undefined;
  /** Looks only when asked to, until `startLooking`. */
  readonly byHand?: boolean;
}

/** Points of the header's sparkline. */
const SPARK_POINTS = 240;
const LOG_LINES = 200;
const LOG_AT_FIRST = 20;
const FILES_SETTLE_MS = 600;

/** The second look comes soon after the first: a leak must be seen twice, and CPU is told from two looks. */
const SECOND_LOOK_MS = 300;

/** The live engine: samples, remembers, plans and runs; the TUI only subscribes and asks. */
export class LiveEngine implements Live {
  readonly #options: LiveEngineOptions;
  readonly #history = new History();
  readonly #listeners = new Set<() => void>();
  readonly #sampler: Sampler;
  #state: LiveState;
  #all: boolean;
  readonly #courses = new AgentCourses();
  readonly #news = new NewsDesk();
  readonly #alerting: Alerting;
  readonly #fixer: Fixer;
  readonly #acts: ActLog | null;
  readonly #findings = new FindingLog();
  #abort: AbortController | null = null;
  #filesTimer: NodeJS.Timeout | null = null;
  #beforeLook: () => void = () => {};
  /** Settles when nobody plans or acts any more. */
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(options: LiveEngineOptions, first: Snapshot) {
    this.#options = options;
    this.#all = options.all;
    this.#fixer = new Fixer(options, this.#history);
    // What was done on this machine is no part of a recorded table, nor of an invented one, which brings its own log.
    const acts = options.log === undefined && options.system.readOnly === null;
    this.#acts = acts ? new ActLog(stateDirectory(options.env)) : null;
    this.#state = {
      snapshot: first,
      config: options.config,
      memory: [memoryTotal(first)],
      intervalSeconds: options.intervalSeconds,
      slowedDown: false,
      readOnly: options.system.readOnly,
      running: null,
      log: options.log ?? this.#acts?.next().slice(-LOG_AT_FIRST) ?? [],
      error: null,
    };
    this.#alerting = new Alerting(options.config.alerts, options.env, {
      trouble: text => this.#log({ at: Date.now(), text, tone: 'warn' }),
    });
    this.#history.record(first);
    this.#sampler = new Sampler({
      intervalSeconds: options.intervalSeconds,
      sample: () => this.#sample(),
      onBackOff: slowedDown => this.#set({ slowedDown }),
    });
  }

  /** Resolves with data: the first paint is never an empty screen. */
  static async start(options: LiveEngineOptions): Promise<LiveEngine> {
    const first = await options.collector.collect({ all: options.all, hurry: true });
    // A recorded table does not change: one look is all there is.
    const recorded = options.system.readOnly !== null;
    const engine = new LiveEngine(options, recorded ? first : withLeaksSeenTwice(null, first));
    if (!recorded && options.byHand !== true) engine.#sampler.start(SECOND_LOOK_MS);
    await turnOfLoop(); // what comes next is the screen, which takes as long to load as a look
    return engine;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  getState(): LiveState {
    return this.#state;
  }

  history(key: IdentityKey): readonly MemoryPoint[] {
    return this.#history.memory(key);
  }

  course(key: IdentityKey): readonly MemoryPoint[] {
    return this.#courses.of(key);
  }

  proportionalMemory(pid: number): Promise<number | null> {
    return this.#options.system.proportionalMemory(pid);
  }

  plan(request: ActRequest): Promise<Plan> {
    const { collector, config, system } = this.#options;
    const shown = this.#state.snapshot;
    return this.#alone(async () => {
      if (request.act === 'fix') return this.#fixer.plan(request.finding, shown);
      const fresh = await collector.collect({ all: true });
      return weigh(planRequest({ request, shown, fresh, lineage: collector.lineage, config }), system);
    });
  }

  async run(plan: Plan, request: ActRequest): Promise<ShownAgain | null> {
    if (this.#abort !== null) throw new Error('another plan is still running');
    const abort = new AbortController();
    this.#abort = abort;
    this.#set({ running: { plan, outcomes: [], done: false, summary: null } });
    const worse = await this.#alone(() => this.#perform(plan, request, abort.signal));
    this.#abort = null;
    await this.#sampler.now();
    return worse.length === 0 ? null : { plan: await this.plan(request), because: worse.join('; ') };
  }

  /** Gives back what has changed for the worse; then nothing was done. */
  async #perform(plan: Plan, request: ActRequest, signal: AbortSignal): Promise<readonly string[]> {
    const onOutcome = (outcome: Outcome): void => this.#note(outcome);
    try {
      const done = await performPlan({
        ...this.#options,
        plan,
        request,
        boot: this.#state.snapshot.host.bootId,
        signal,
        fixer: this.#fixer,
        onOutcome,
      });
      const { outcomes, chores, summary } = done;
      this.#set({ running: { plan, outcomes, chores, done: true, summary } });
      for (const line of done.log) this.#log(line);
      return done.worse;
    } catch (error) {
      const summary = `it failed: ${error instanceof Error ? error.message : String(error)}`;
      this.#set({ running: { plan, outcomes: this.#state.running?.outcomes ?? [], done: true, summary } });
      this.#log({ at: Date.now(), text: summary, tone: 'bad' });
      return [];
    }
  }

  /** One at a time, and no sample meanwhile: two looks at once would spoil each other's measures of CPU. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(async () => {
      await this.#sampler.pause();
      try {
        return await work();
      } finally {
        this.#sampler.resume();
      }
    });
    // Whoever asked is told of a failure; the next in the queue has nothing to do with it.
    this.#turn = result.catch(() => {});
    return result;
  }

  cancel(): void {
    this.#abort?.abort();
  }

  async jump(target: Identity): Promise<string> {
    const found = this.#state.snapshot.processes.find(p => keyOf(p.facts) === keyOf(target));
    if (found === undefined) return 'It is gone.';
    if (found.tmux === null) return `${calls(found)} is in no tmux pane.`;
    if (this.#options.system.around !== undefined)
      return `${calls(found)} is in a pane of another machine: it cannot be shown here.`;
    return jumpToPane(found.tmux, this.#options.env);
  }

  exportScreen(extension: string, text: string): Promise<string> {
    return exportScreen(extension, text);
  }

  copyToTmux(text: string): Promise<boolean> {
    return copyToTmux(text, this.#options.env);
  }

  setInterval(seconds: number): void {
    this.#sampler.setInterval(seconds);
    this.#set({ intervalSeconds: seconds, slowedDown: false });
  }

  async saveSettings(settings: Settings): Promise<string> {
    const { configPath, system } = this.#options;
    if (system.backend === 'demo') return 'This machine is invented: nothing was saved.';
    if (configPath == null) throw new Error('Nothing was saved: there is no home directory.');
    return saveSettings(configPath, settings);
  }

  /** The view freezes, not the engine: history and lineage go on. */
  setFrozen(_frozen: boolean): void {}

  setAll(all: boolean): void {
    this.#all = all;
    void this.refresh();
  }

  refresh(): Promise<void> {
    return this.#sampler.now();
  }

  /** For an engine that looked by hand until now; `before` comes before each look. */
  startLooking(before: () => void): void {
    this.#beforeLook = before;
    this.#sampler.start();
  }

  /** A heartbeat file changed: on screen within a second, but a busy disk does not drive the refresh. */
  noteFiles(): void {
    this.#filesTimer ??= setTimeout(() => {
      this.#filesTimer = null;
      void this.refresh();
    }, FILES_SETTLE_MS);
  }

  async stop(): Promise<void> {
    this.#abort?.abort();
    this.#alerting.stop();
    if (this.#filesTimer !== null) clearTimeout(this.#filesTimer);
    await this.#sampler.stop();
    await this.#turn; // an act that was cut short still writes what it did
    this.#options.system.close();
  }

  async #sample(): Promise<void> {
    try {
      this.#beforeLook();
      const looked = await this.#options.collector.collect({ all: this.#all, past: this.#history });
      this.#history.record(looked);
      this.#courses.record(looked);
      const snapshot = this.#state.readOnly ? looked : withLeaksSeenTwice(this.#state.snapshot, looked);
      this.#set({
        snapshot,
        memory: [...this.#state.memory, memoryTotal(snapshot)].slice(-SPARK_POINTS),
        error: null,
      });
      this.#tell(this.#news.look(snapshot));
      this.#log(...(this.#acts?.next() ?? []), ...this.#findings.look(snapshot));
    } catch (error) {
      // The screen keeps the last good snapshot and says why it is old.
      this.#set({ error: error instanceof Error ? error.message : String(error) });
    }
  }

  #tell(news: readonly News[]): void {
    if (news.length === 0 || this.#state.readOnly !== null) return;
    this.#set({ rings: (this.#state.rings ?? 0) + 1 });
    this.#alerting.tell(news);
  }

  #note(outcome: Outcome): void {
    const { running } = this.#state;
    if (running === null) return;
    const others = running.outcomes.filter(known => keyOf(known) !== keyOf(outcome));
    this.#set({ running: { ...running, outcomes: [...others, outcome] } });
  }

  #log(...lines: readonly LogLine[]): void {
    if (lines.length > 0) this.#set({ log: [...this.#state.log, ...lines].slice(-LOG_LINES) });
  }

  #set(change: Partial<LiveState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

const memoryTotal = (snapshot: Snapshot): number =>
  snapshot.processes.filter((p: JudgedProcess) => p.related).reduce((sum, p) => sum + memoryOf(p.facts), 0);
