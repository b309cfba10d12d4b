import { COLUMN_IDS, type ColumnId } from '../../model/ui-settings.ts';
import type { Screen } from '../screen.ts';
import { isWhole } from '../state.ts';
import { columnsFor } from '../tree/columns.ts';

/** A row of the setup screen. */
export type SetupItem =
  | { readonly kind: 'theme' }
  | { readonly kind: 'interval' }
  | { readonly kind: 'mouse' }
  | { readonly kind: 'columns' }
  | { readonly kind: 'column'; readonly id: ColumnId; readonly on: boolean };

/** The columns that are on, in their order: the user's, or those that this width shows by itself. */
export const columnsOn = ({ layout, view }: Pick<Screen, 'layout' | 'view'>): readonly ColumnId[] =>
  view.look.columns ?? columnsFor(layout.treeColumns, null, isWhole(view)).map(column => column.id);

export const setupItems = (screen: Pick<Screen, 'layout' | 'view'>): readonly SetupItem[] => {
  const on = columnsOn(screen);
  const column = (id: ColumnId): SetupItem => ({ kind: 'column', id, on: on.includes(id) });
  return [
    { kind: 'theme' },
    { kind: 'interval' },
    { kind: 'mouse' },
    { kind: 'columns' },
    ...on.map(column),
    ...COLUMN_IDS.filter(id => !on.includes(id)).map(column),
  ];
};
