import type { Snapshot } from '../model/snapshot.ts';
import type { ActLog } from './act-log.ts';
import { Alerting } from './alerts.ts';
import type { LiveEngineOptions } from './engine-options.ts';
import { FindingLog } from './finding-log.ts';
import type { LiveStore } from './live-store.ts';
import { NewsDesk } from './news.ts';

/** Tells what a look has brought: in the log, and to whoever wants to be alerted. */
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

  stop(): void {
    this.#alerting.stop();
  }
}
