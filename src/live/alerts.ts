import { displayInTmux } from '../act/tmux/display.ts';
import type { Alerts } from '../model/config.ts';
import { showableJson, visible } from '../model/text.ts';
import { runCommand } from '../observe/run-command.ts';
import type { News } from './news.ts';

/** A notifier that takes longer is ended: it must not pile up. */
const COMMAND_MS = 10_000;
/** A machine in trouble has much news at once: these many run together, and no more wait than that. */
const MOST_AT_ONCE = 4;
const MOST_WAITING = 32;

export interface Told {
  /** A sentence for the log; at most one for each thing that does not work. */
  trouble(text: string): void;
}

/** Tells the user where he looks: a message in tmux, a program of his own. The bell is the terminal's and rings there. */
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
