import type { PanelId } from './state.ts';

/** What a click on a piece of text does: types a key of the table, opens a panel, or picks an entry of a list. */
export type Click = { readonly key: string } | { readonly panel: PanelId } | { readonly entry: number };
