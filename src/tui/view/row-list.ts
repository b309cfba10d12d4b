import type { Snapshot } from '../../model/snapshot.ts';
import { withSelected } from './keep-selected.ts';
import { type Row, treeRows } from './rows.ts';
import { rowOptions, type ViewState } from './state.ts';

/** The rows of the tree, made again only when something they are made from is different. */
export class RowList {
  #madeFrom: readonly unknown[] = [];
  #rows: readonly Row[] = [];

  of(snapshot: Snapshot, view: ViewState): readonly Row[] {
    const options = rowOptions(view);
    const inputs = [snapshot, ...Object.values(options)];
    if (inputs.some((input, i) => input !== this.#madeFrom[i])) {
      // What the user folds, filters or sorts away is not kept.
      const looked = inputs.every((input, i) => i === 0 || input === this.#madeFrom[i]);
      const rows = treeRows(snapshot, options);
      this.#madeFrom = inputs;
      this.#rows = looked ? withSelected(view.selected, this.#rows, rows, snapshot) : rows;
    } else if (this.#rows.some(row => row.gone && row.key !== view.selected))
      this.#rows = this.#rows.filter(row => !row.gone);
    return this.#rows;
  }
}
