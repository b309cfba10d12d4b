import { loadavg } from 'node:os';
import { leftSomething } from '../act/execute.ts';
import { exportFile } from '../act/export-file.ts';
import { attachmentTo, copyToTmux, jumpToPane } from '../act/tmux.ts';
import type { Acknowledgement } from '../judge/acknowledge.ts';
import type { MemoryPoint } from '../judge/history.ts';
import { withLeaksSeenTwice } from '../judge/seen-twice.ts';
import { type RememberedSession, resumeFromAnywhere, sessionKey, wayBackName } from '../model/asleep.ts';
import type { Finding } from '../model/finding.ts';
import { type Identity, type IdentityKey, keyOf } from '../model/identity.ts';
import type { ActRequest, Plan } from '../model/plan.ts';
import { label, type Snapshot, whyNoPane } from '../model/snapshot.ts';
import { visible } from '../model/text.ts';
import type { UiSettings } from '../model/ui-settings.ts';
import { plural } from '../model/units.ts';
import { errorSentence } from '../observe/state/own-file.ts';
import { stateDirectory } from '../observe/state/state-directory.ts';
import type { System } from '../observe/system.ts';
import { turnOfLoop } from '../observe/time-slice.ts';
import { peekAtPane } from '../observe/tmux.ts';
import { noteSessions } from '../remember/asleep.ts';
import { Acknowledgements } from './acknowledgements.ts';
import { Reporter } from './alerts.ts';
import { Engine, type Executed } from './engine.ts';
import { History, TreeHistories } from './history.ts';
import type { ChangedPlan, Live, LiveState, LogLine } from './live-state.ts';
import { type LiveEngineOptions, LiveStore, Turns } from './live-store.ts';
import { ActLog, actText } from './log.ts';
import { Sampler } from './sampler.ts';
import { saveSettings } from './save-ui-settings.ts';

const FILES_SETTLE_MS = 600;
/** How long another's change of the sleeping sessions may take to be shown. */
const SESSIONS_MS = 5000;

/** The second look comes soon after the first: a leak must be seen twice, and CPU needs two samples. */
const SECOND_LOOK_MS = 300;

/** The live engine: samples, remembers, plans and runs; the TUI only subscribes and asks. */
export class LiveEngine implements Live {
  readonly #options: LiveEngineOptions;
  readonly #history = new History();
  readonly #sampler: Sampler;
  readonly #store: LiveStore;
  #all: boolean;
  readonly #trees = new TreeHistories();
  readonly #reporter: Reporter;
  readonly #engine: Engine;
  #abort: AbortController | null = null;
  #filesTimer: NodeJS.Timeout | null = null;
  #beforeLook: () => void = () => {};
  readonly #acknowledged: Acknowledgements;
  readonly #turns: Turns;
  /** Where sessions are remembered; null: nowhere, because this machine is not the real one. */
  readonly #directory: string | null;
  #sessions = { running: '', at: Number.NEGATIVE_INFINITY };
  #warnedOfSessions = false;

  private constructor(options: LiveEngineOptions, first: Snapshot) {
    this.#options = options;
    this.#all = options.all;
    this.#engine = new Engine({
      ...options,
      past: this.#history,
      directory: options.stateDirectory,
    });
    // What was done on this machine is no part of a recorded table, nor of an invented one, which brings its own log.
    const hasActs = options.log === undefined && options.system.readOnly === null;
    const directory = hasActs ? stateDirectory(options.env) : null;
    const acts = hasActs ? new ActLog(directory) : null;
    this.#directory = options.system.inventedRecords === undefined ? directory : null;
    this.#acknowledged = new Acknowledgements(directory);
    const shown = this.#withoutAcknowledged(first);
    this.#store = new LiveStore(firstState(options, shown, acts, this.#acknowledged.all));
    this.#reporter = new Reporter(options, this.#store, acts);
    this.#history.record(first);
    this.#trees.record(first);
    this.#sampler = new Sampler({
      intervalSeconds: options.intervalSeconds,
      sample: () => this.#sample(),
      onBackOff: slowedDown => this.#store.set({ slowedDown }),
    });
    this.#turns = new Turns(this.#sampler);
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
    return this.#store.subscribe(listener);
  }

  getState(): LiveState {
    return this.#store.state;
  }

  history(key: IdentityKey): readonly MemoryPoint[] {
    return this.#history.memory(key);
  }

  treeHistory(key: IdentityKey): readonly MemoryPoint[] {
    return this.#trees.of(key);
  }

  proportionalMemory(pid: number): Promise<number | null> {
    return this.#options.system.proportionalMemory(pid);
  }

  plan(request: ActRequest): Promise<Plan> {
    const shown = this.#store.state.snapshot;
    return this.#turns.alone(() => this.#engine.plan(request, { by: 'tui', shown }));
  }

  async run(plan: Plan, request: ActRequest): Promise<ChangedPlan | null> {
    if (this.#abort !== null) throw new Error('another plan is still running');
    const abort = new AbortController();
    this.#abort = abort;
    this.#store.set({ running: { plan, outcomes: [], done: false, summary: null } });
    let worse: readonly string[];
    try {
      worse = await this.#turns.alone(() => this.#execute(plan, request, abort.signal));
    } finally {
      this.#abort = null;
    }
    await this.#sampler.now();
    return worse.length === 0 ? null : { plan: await this.plan(request), because: worse.join('; ') };
  }

  cancel(): void {
    this.#abort?.abort();
  }

  async wake(session: RememberedSession): Promise<string> {
    const plan = this.#engine.planWake(session, false);
    const result = await this.#turns.alone(() =>
      this.#engine.execute(plan, { by: 'tui', why: `Enter: wake ${session.id}` }),
    );
    if (result.status === 'held') return result.why;
    const [outcome] = result.execution.otherOutcomes;
    if (outcome?.outcome !== 'skipped') return `${wayBackName(session)}: ${outcome?.why ?? ''}`;
    const line = resumeFromAnywhere(session);
    const copied = await this.copyToTmux(line);
    return `${copied ? 'Copied' : 'Run it yourself'}: ${line}`;
  }

  acknowledge(finding: Finding): string {
    const failed = this.#acknowledged.add(finding, Date.now());
    const { snapshot } = this.#store.state;
    this.#store.set({ snapshot: this.#withoutAcknowledged(snapshot) });
    this.#reporter.quiet(finding);
    this.#store.log(acknowledgedLine({ finding, at: this.#now() }));
    return failed === null
      ? `Acknowledged; quiet until it changes. The Log lists it, A there takes it back.`
      : `Acknowledged until reaptop ends: ${failed}.`;
  }

  takeBack(finding: Finding): string {
    this.#acknowledged.remove(finding);
    const { log } = this.#store.state;
    this.#store.set({ log: log.filter(line => line.acknowledged !== finding) });
    void this.refresh();
    return 'Taken back; it is shown again if it still applies.';
  }

  #withoutAcknowledged(snapshot: Snapshot): Snapshot {
    const findings = this.#acknowledged.loud(snapshot.findings);
    return findings === snapshot.findings ? snapshot : { ...snapshot, findings };
  }

  jump(target: Identity): Promise<string> {
    return jumpTo(target, this.#store.state.snapshot, this.#options);
  }

  attachment(target: Identity): (() => Promise<string>) | null {
    const { system, env } = this.#options;
    const { processes } = this.#store.state.snapshot;
    const place = processes.find(p => keyOf(p.facts) === keyOf(target))?.tmux ?? null;
    return place === null || system.inventedRecords !== undefined ? null : attachmentTo(place, env);
  }

  async peek(target: Identity): Promise<readonly string[] | string> {
    const { system, env } = this.#options;
    const { snapshot } = this.#store.state;
    const found = snapshot.processes.find(p => keyOf(p.facts) === keyOf(target));
    if (found === undefined) return 'This process has ended.';
    if (found.tmux === null) return whyNoPane(label(found), snapshot);
    if (system.inventedRecords !== undefined) return 'Its pane is on another machine.';
    return peekAtPane(found.tmux, env);
  }

  exportScreen(extension: string, text: string): Promise<string> {
    return exportScreen(extension, text);
  }

  copyToTmux(text: string): Promise<boolean> {
    return copyToTmux(text, this.#options.env);
  }

  setInterval(seconds: number): void {
    this.#sampler.setInterval(seconds);
    this.#store.set({ intervalSeconds: seconds, slowedDown: false });
  }

  async saveSettings(settings: UiSettings): Promise<string> {
    const { configPath, system } = this.#options;
    if (system.backend === 'demo') return 'This machine is invented: nothing was saved.';
    if (configPath == null) throw new Error('Nothing was saved: there is no home directory.');
    return saveSettings(configPath, settings);
  }

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
    this.cancel();
    this.#reporter.stop();
    if (this.#filesTimer !== null) clearTimeout(this.#filesTimer);
    await this.#sampler.stop();
    await this.#turns.over(); // an act that was cut short still writes what it did
    this.#options.system.close();
  }

  /** Runs a plan that the user read and confirmed; gives back what changed for the worse, and then nothing was done. */
  async #execute(plan: Plan, request: ActRequest, signal: AbortSignal): Promise<readonly string[]> {
    const store = this.#store;
    try {
      const result = await this.#engine.execute(plan, {
        by: 'tui',
        why: askedFor(request),
        signal,
        // The screen asks for the pid of every soft-protected process before it lets a plan run.
        confirmed: new Set(plan.steps.filter(step => step.confirm).map(keyOf)),
        onProgress: progress => {
          if (progress.type === 'outcome') store.note(progress.outcome);
        },
      });
      if (result.status === 'held') throw new Error(result.why);
      const { outcomes, otherOutcomes, summary, worse } = result.execution;
      store.set({ running: { plan, outcomes, otherOutcomes, done: true, summary } });
      const warnings = this.#options.stateDirectory === null ? [] : result.warnings;
      const at = this.#now();
      store.log(actLine(request, plan, result.execution, at));
      store.log(...warnings.map(text => ({ at, text, tone: 'warn' as const })));
      return worse;
    } catch (error) {
      const summary = `it failed: ${error instanceof Error ? error.message : String(error)}`;
      const outcomes = store.state.running?.outcomes ?? [];
      store.set({ running: { plan, outcomes, done: true, summary } });
      store.log({ at: this.#now(), text: summary, tone: 'bad' });
      return [];
    }
  }

  /** An invented machine has a time of its own, which its log uses. */
  #now(): number {
    return this.#options.system.backend === 'demo' ? this.#store.state.snapshot.takenAt : Date.now();
  }

  /** When sessions came or went, and now and then: others may have put one to sleep. */
  #noteSessions(snapshot: Snapshot): void {
    if (this.#directory === null) return;
    const running = snapshot.processes
      .filter(p => p.isSession)
      .map(p => `${keyOf(p.facts)} ${p.session?.id}`)
      .join();
    const now = performance.now();
    if (running === this.#sessions.running && now - this.#sessions.at < SESSIONS_MS) return;
    this.#sessions = { running, at: now };
    const { sessions, lost, warning } = noteSessions(this.#directory, snapshot);
    const asleep = sessions.filter(({ state }) => state !== 'running').sort((a, b) => b.at - a.at);
    const told = (all: readonly RememberedSession[]): string =>
      all.map(one => `${one.state} ${sessionKey(one)}`).join();
    if (told(asleep) !== told(this.#store.state.asleep ?? [])) this.#store.set({ asleep });
    const at = this.#now();
    if (lost.length > 0) {
      const names = lost.map(wayBackName).join(', ');
      this.#store.log({
        at,
        text: `lost ${plural(lost.length, 'session')}: ${names}; Asleep lists the way back`,
        tone: 'bad',
      });
    }
    if (warning !== null && !this.#warnedOfSessions) this.#store.log({ at, text: warning, tone: 'warn' });
    this.#warnedOfSessions ||= warning !== null;
  }

  async #sample(): Promise<void> {
    try {
      this.#beforeLook();
      const looked = await this.#engine.sample({ all: this.#all });
      this.#history.record(looked);
      this.#trees.record(looked);
      const { state } = this.#store;
      const snapshot = this.#withoutAcknowledged(
        state.readOnly ? looked : withLeaksSeenTwice(state.snapshot, looked),
      );
      this.#store.set({ snapshot, load: loadOf(this.#options.system), error: null });
      this.#noteSessions(looked);
      this.#reporter.look(snapshot);
    } catch (error) {
      // The screen keeps the last good snapshot and says why it is old.
      this.#store.set({ error: error instanceof Error ? error.message : String(error) });
    }
  }
}

/** The key that was pressed, for the record. */
const askedFor = (request: ActRequest): string => {
  switch (request.act) {
    case 'end':
      return request.force ? 'X: kill now' : 'x: end';
    case 'clean':
      return 'c: clean what is proven leaked';
    case 'zombies':
      return 'z: deal with zombies';
    case 'sleep':
      return 'f: put to sleep';
    case 'signal':
      return `S: ${request.signal}`;
    case 'fix':
      return `f: ${request.finding.id}: ${request.finding.title}`;
  }
};

/** An execution as the Log panel shows it. */
const actLine = (
  request: ActRequest,
  plan: Plan,
  { outcomes, otherOutcomes, summary }: Executed,
  at: number,
): LogLine => {
  const rows = [
    ...outcomes.map(({ outcome, pid, name, freed, why }) => ({
      what: outcome,
      pid,
      name,
      bytes: freed,
      why,
    })),
    ...otherOutcomes.map(({ outcome, act, target, why }) => {
      return { what: outcome, pid: null, name: `${act} ${target}`, bytes: 0, why };
    }),
  ];
  // A chosen signal may well leave its target running: CONT, STOP and USR1 are meant to.
  const failed =
    otherOutcomes.some(({ outcome }) => outcome === 'failed') ||
    (plan.how === 'signal' ? outcomes.some(({ outcome }) => outcome === 'denied') : leftSomething(outcomes));
  return {
    at,
    text: actText('tui', summary, rows),
    entry: { by: 'tui', why: askedFor(request), rows, note: null },
    tone: failed ? 'bad' : 'good',
  };
};

const LOG_AT_FIRST = 20;

const acknowledgedLine = ({ finding, at }: Acknowledgement): LogLine => ({
  at,
  text: `acknowledged: ${finding.title}`,
  tone: 'plain',
  acknowledged: finding,
});

/** Of this machine, not of one that is invented or recorded. */
const loadOf = ({ inventedRecords }: System): number | null =>
  inventedRecords === undefined ? (loadavg()[0] ?? null) : null;

/** What is shown before the second look. */
const firstState = (
  { config, intervalSeconds, system, log, asleep = [] }: LiveEngineOptions,
  snapshot: Snapshot,
  acts: ActLog | null,
  acknowledged: readonly Acknowledgement[],
): LiveState => ({
  snapshot,
  config,
  load: loadOf(system),
  intervalSeconds,
  slowedDown: false,
  readOnly: system.readOnly,
  running: null,
  log: [...(log ?? acts?.next().slice(-LOG_AT_FIRST) ?? []), ...acknowledged.map(acknowledgedLine)].sort(
    (a, b) => a.at - b.at,
  ),
  error: null,
  asleep,
});

/** Into the directory we were started in; resolves to the path, or says why there is none. */
export const exportScreen = async (extension: string, text: string): Promise<string> => {
  try {
    return visible(exportFile(process.cwd(), extension, text));
  } catch (error) {
    throw new Error(`Nothing was written: ${errorSentence(error)}.`);
  }
};

/** Brings the pane of a process to the front, or says why not. */
export const jumpTo = async (
  target: Identity,
  snapshot: Snapshot,
  { system, env }: Pick<LiveEngineOptions, 'system' | 'env'>,
): Promise<string> => {
  const found = snapshot.processes.find(p => keyOf(p.facts) === keyOf(target));
  if (found === undefined) return 'This process has ended.';
  if (found.tmux === null) return whyNoPane(label(found), snapshot);
  if (system.inventedRecords !== undefined) return `${label(found)} is in a pane of another machine.`;
  return jumpToPane(found.tmux, env);
};
