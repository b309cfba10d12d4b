import { displayInTmux } from '../act/tmux.ts';
import type { Alerts } from '../model/config.ts';
import { aboutOf, type Finding, type Severity, sameFinding } from '../model/finding.ts';
import { keyOf } from '../model/identity.ts';
import { identityOf, type JudgedProcess, label, type Snapshot } from '../model/snapshot.ts';
import { showableJson, visible } from '../model/text.ts';
import { runCommand } from '../observe/run-command.ts';
import type { LogLine } from './live-state.ts';
import type { LiveEngineOptions, LiveStore } from './live-store.ts';
import type { ActLog } from './log.ts';

/** What the user is alerted to, once: a finding that became critical, or an agent that began to wait. */
export interface News extends Omit<Finding, 'id'> {
  readonly id: Finding['id'] | 'agent-waits';
}

/** A finding that comes and goes at its threshold is no news until it was away this long. */
const FORGET_MS = 10 * 60 * 1000;

interface LastNews {
  readonly id: News['id'];
  /** Identities and files: a finding whose processes come and go is the same while it keeps one of them. */
  readonly about: Set<string>;
  lastSeen: number;
}

const waiting = (p: JudgedProcess): News => {
  const project = p.session?.project ? ` in ${p.session.project}` : '';
  const what = p.session?.waitingFor ?? null;
  return {
    id: 'agent-waits',
    severity: 'warn',
    title: `${label(p)}${project} waits for you`,
    why: what === null ? 'as its own session file records' : `its own session file says: ${what}`,
    processes: [identityOf(p)],
    files: [],
    remedy: 'answer it; o goes to its pane',
    action: null,
  };
};

/** Finds what is new since the last sample, each thing once. */
export class NewsDesk {
  #told: LastNews[] = [];

  look(snapshot: Snapshot): readonly News[] {
    const at = snapshot.takenAt;
    const waits = snapshot.processes.filter(p => p.session?.doing === 'waiting').map(waiting);
    const current: readonly News[] = [...snapshot.findings.filter(f => f.severity === 'critical'), ...waits];
    const fresh = current.filter(news => !this.#knows(news, at));
    const present = new Set(waits.flatMap(aboutOf));
    this.#told = this.#told.filter(({ id, about, lastSeen }) =>
      // Who was answered and waits again asks something new.
      id === 'agent-waits' ? [...about].some(key => present.has(key)) : at - lastSeen < FORGET_MS,
    );
    return fresh;
  }

  #knows(news: News, at: number): boolean {
    const about = aboutOf(news);
    const told = this.#told.find(
      ({ id, about: known }) => id === news.id && about.some(key => known.has(key)),
    );
    for (const key of about) told?.about.add(key);
    if (told) told.lastSeen = at;
    else this.#told.push({ id: news.id, about: new Set(about), lastSeen: at });
    return told !== undefined;
  }
}

/** A notifier that takes longer is ended: it must not pile up. */
const COMMAND_MS = 10_000;
/** A machine in trouble has much news at once: these many run together, and no more wait than that. */
const MOST_AT_ONCE = 4;
const MOST_WAITING = 32;

export interface Told {
  /** A sentence for the log; at most one for each thing that does not work. */
  trouble(text: string): void;
}

/** Alerts the user by a message in tmux or a program of their own. The terminal rings the bell. */
export class Alerting {
  readonly #alerts: Alerts;
  readonly #env: NodeJS.ProcessEnv;
  readonly #told: Told;
  readonly #abort = new AbortController();
  readonly #waiting: News[] = [];
  #running = 0;
  #complained = false;

  constructor(alerts: Alerts, env: NodeJS.ProcessEnv, told: Told) {
    this.#alerts = alerts;
    this.#env = env;
    this.#told = told;
  }

  tell(news: readonly News[]): void {
    const [first] = news;
    if (first === undefined) return;
    const more = news.length > 1 ? ` (and ${news.length - 1} more)` : '';
    if (this.#alerts.tmux) void displayInTmux(`reaptop: ${first.title}${more}`, this.#env);
    if (this.#alerts.command === null) return;
    this.#waiting.push(...news.slice(0, MOST_WAITING - this.#waiting.length));
    while (this.#running < MOST_AT_ONCE && this.#waiting.length > 0) void this.#run(this.#waiting.shift()!);
  }

  stop(): void {
    this.#waiting.length = 0;
    this.#abort.abort();
  }

  /** The user's argv as it is, without a shell; what a repository named comes on stdin and never among its words. */
  async #run(news: News): Promise<void> {
    const [program = '', ...args] = this.#alerts.command ?? [];
    this.#running += 1;
    const result = await runCommand(program, args, {
      timeoutMs: COMMAND_MS,
      env: this.#env,
      input: `${showableJson(JSON.stringify(news))}\n`,
      signal: this.#abort.signal,
    });
    this.#running -= 1;
    const failed = result.status !== 'done' || result.code !== 0;
    if (failed && !this.#complained && !this.#abort.signal.aborted) {
      this.#complained = true;
      const how = result.status === 'done' ? `exit ${result.code}` : result.status;
      this.#told.trouble(`alerts.command: ${visible(program)} did not work (${how}).`);
    }
    const next = this.#waiting.shift();
    if (next !== undefined && !this.#abort.signal.aborted) await this.#run(next);
  }
}

const TONES = { info: 'plain', warn: 'warn', critical: 'bad' } satisfies Record<Severity, LogLine['tone']>;

/** The same finding has nearly always the same first process or file. */
const mainly = ({ id, processes: [first], files, title }: Finding): string =>
  `${id} ${first === undefined ? (files[0] ?? title) : keyOf(first)}`;

/** Which of these are not among the others. */
const notAmong = (findings: readonly Finding[], others: readonly Finding[]): readonly Finding[] => {
  const known = new Set(others.map(mainly));
  return findings.filter(one => !known.has(mainly(one)) && sameFinding(one, others) === undefined);
};

/** Logs which findings came and went since the last sample. */
export class FindingLog {
  #before: readonly Finding[] | null = null;

  /** It has not gone, though it is no longer shown. */
  quiet(finding: Finding): void {
    this.#before = this.#before?.filter(one => sameFinding(finding, [one]) === undefined) ?? null;
  }

  look({ findings, takenAt: at }: Pick<Snapshot, 'findings' | 'takenAt'>): readonly LogLine[] {
    const before = this.#before ?? findings;
    this.#before = findings;
    const told = (word: string, tone: (f: Finding) => LogLine['tone']) => (f: Finding) => ({
      at,
      text: `${word}: ${f.title}`,
      tone: tone(f),
      about: f.processes[0] ?? null,
    });
    return [
      ...notAmong(before, findings).map(told('resolved', () => 'good')),
      ...notAmong(findings, before).map(told('found', ({ severity }) => TONES[severity])),
    ];
  }
}

/** Reports what a sample brought: in the log, and as alerts. */
export class Reporter {
  readonly #store: LiveStore;
  readonly #acts: ActLog | null;
  readonly #alerting: Alerting;
  readonly #news = new NewsDesk();
  readonly #findings = new FindingLog();

  constructor({ config, env }: LiveEngineOptions, store: LiveStore, acts: ActLog | null) {
    this.#store = store;
    this.#acts = acts;
    this.#alerting = new Alerting(config.alerts, env, {
      trouble: text => store.log({ at: Date.now(), text, tone: 'warn' }),
    });
  }

  look(snapshot: Snapshot): void {
    const news = this.#news.look(snapshot);
    const { readOnly, rings = 0 } = this.#store.state;
    if (news.length > 0 && readOnly === null) {
      this.#store.set({ rings: rings + 1 });
      this.#alerting.tell(news);
    }
    this.#store.log(...(this.#acts?.next() ?? []), ...this.#findings.look(snapshot));
  }

  quiet(finding: Finding): void {
    this.#findings.quiet(finding);
  }

  stop(): void {
    this.#alerting.stop();
  }
}
