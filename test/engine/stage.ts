import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import type { Progress } from '../../src/act/terminate/tracked.ts';
import type { Collector, SampleOptions } from '../../src/engine/collector.ts';
import { Engine, type EngineOptions, type Executed, type ExecuteOptions } from '../../src/engine/engine.ts';
import { type JudgedFiles, judgeFiles } from '../../src/judge/heartbeats/judge-files.ts';
import type { JudgedSnapshot } from '../../src/judge/judge.ts';
import { Lineage } from '../../src/judge/rules/lineage.ts';
import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
import type { Plan } from '../../src/model/plan.ts';
import type { JudgedProcess, Snapshot } from '../../src/model/snapshot.ts';
import { FakeSystem } from '../act/fake-system.ts';
import { HOUSE, snapshotOf } from '../judge/plan/machine.ts';

/** Longer waits are limits of real programs, and are not shortened. */
const LONGEST_WAIT_MS = 1500;

/** A wait passes at once, and time passes only while somebody waits; `vi.restoreAllMocks` ends it. */
export const hurry = (): void => {
  const begin = globalThis.setTimeout;
  let now = Math.round(performance.now());
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((done: () => void, ms = 0) =>
    ms > LONGEST_WAIT_MS
      ? begin(done, ms)
      : begin(() => {
          now += ms;
          done();
        }, 0)) as typeof setTimeout);
};

/** Nothing was written by agents. */
const NO_FILES = judgeFiles({
  readings: [],
  processes: [],
  tmux: [],
  sessions: [],
  config: DEFAULT_CONFIG,
  now: 0,
});

interface Look extends SampleOptions {
  /** Milliseconds of the clock that waits move. */
  readonly at: number;
  /** The signals that were sent before. */
  readonly sent: readonly string[];
}

/** What another machine tells besides its processes: nothing. */
export const NO_RECORDS = { tmux: [], readings: [], sessions: [], workers: [], strange: [] };

/** An engine on a machine in memory: what is put there is judged as the test says, until it ends. */
export class Stage {
  readonly system = new FakeSystem();
  /** How each sample was asked for. */
  readonly looks: Look[] = [];
  readonly progress: Progress[] = [];
  /** What runs there besides the house and what was put there, and what is said of it. */
  shown: (put: readonly JudgedProcess[]) => Snapshot = put => snapshotOf([...HOUSE, ...put]);
  files: () => JudgedFiles = () => NO_FILES;
  /** Before each sample, with how many there were. */
  onLook: (looks: number) => void = () => {};
  readonly #put = new Map<number, JudgedProcess>();
  readonly collector: Collector;
  readonly engine: Engine;

  constructor(options: Partial<EngineOptions> = {}) {
    const collect = async (asked: SampleOptions): Promise<JudgedSnapshot> => {
      this.onLook(this.looks.length);
      this.looks.push({ ...asked, at: performance.now(), sent: [...this.system.sent] });
      return this.moment();
    };
    this.collector = { collect, lineage: new Lineage() } as unknown as Collector;
    this.engine = new Engine({
      collector: this.collector,
      system: this.system,
      config: DEFAULT_CONFIG,
      env: {},
      directory: null,
      ...options,
    });
  }

  /** Signals do to it what they do to any, or what the reaction does. */
  put(p: JudgedProcess, reaction?: () => void): this {
    this.#put.set(p.facts.pid, p);
    this.system.add(p.facts.pid, p.facts.ppid ?? 0, p.facts, reaction);
    return this;
  }

  /** The processes of a whole machine, as another file invents it. */
  show(snapshot: Snapshot): this {
    for (const { facts } of snapshot.processes) this.system.add(facts.pid, facts.ppid ?? 0, facts);
    this.shown = () => snapshot;
    return this;
  }

  /** What a sample shows now. */
  moment(): JudgedSnapshot {
    const shown = this.shown([...this.#put.values()]);
    const processes = shown.processes.filter(({ facts }) => this.system.has(facts.pid));
    return { ...shown, processes, files: this.files() };
  }

  async execute(plan: Plan, options: Partial<ExecuteOptions> = {}): Promise<Executed> {
    const result = await this.engine.execute(plan, {
      by: 'tui',
      why: 'a test',
      onProgress: progress => this.progress.push(progress),
      ...options,
    });
    if (result.status !== 'done') throw new Error(result.why);
    return result.execution;
  }
}

export const linesOf = (directory: string, file: string): readonly Record<string, unknown>[] => {
  const path = join(directory, file);
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter(line => line !== '').map(line => JSON.parse(line));
};
