import type { MouseReport } from './mouse-report.ts';

/** Two presses on one cell within this are a double click; what follows a click sooner was not decided upon. */
export const DOUBLE_MS = 500;

/** Tells double clicks, and clicks that come too soon to be an answer. */
export class Clicks {
  readonly #now: () => number;
  #last: { readonly at: number; readonly column: number; readonly row: number } | null = null;
  #quietSince = Number.NEGATIVE_INFINITY;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Something new is on the screen: who clicks at once has not read it. */
  shown(): void {
    this.#quietSince = this.#now();
  }

  /** `double`: the second of two on one cell. `hurried`: sooner after another click, or after what it answers, than anybody reads. */
  note({ column, row }: MouseReport): { readonly double: boolean; readonly hurried: boolean } {
    const at = this.#now();
    const last = this.#last;
    const soon = last !== null && at - last.at < DOUBLE_MS;
    const double = soon && last.column === column && last.row === row;
    this.#last = { at, column, row };
    return { double, hurried: soon || at - this.#quietSince < DOUBLE_MS };
  }
}
