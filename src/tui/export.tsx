import { stripVTControlCharacters } from 'node:util';
import type { ReactNode } from 'react';
import { snapshotJson } from '../model/snapshot-json.ts';
import { cells, showableJson } from '../model/text.ts';
import type { Action } from './keys/input.ts';
import { type KeyActions, useKeys } from './keys/use-keys.ts';
import type { Screen } from './screen.ts';
import { closeSheet, LEAVES } from './ui/sheet.tsx';
import { svgOf } from './ui/svg.ts';
import { themeNameOf } from './ui/theme.ts';

/** The question is in the footer: the screen that is exported stays in sight. */
export const ExportQuestion = (): ReactNode => {
  useKeys('export', EXPORT_KEYS, LEAVES);
  return null;
};

const plainLines = (frame: readonly string[]): string =>
  `${frame
    .map(line => stripVTControlCharacters(line).trimEnd())
    .join('\n')
    .trimEnd()}\n`;

const FORMS = {
  txt: plainLines,
  svg: (frame, { layout, view }) =>
    svgOf(frame, layout.columns, cells, themeNameOf(view.look) === 'light' ? 'light' : 'dark'),
  json: (_, { snapshot }) => `${showableJson(JSON.stringify(snapshotJson(snapshot), null, 2))}\n`,
} satisfies Record<string, (frame: readonly string[], screen: Screen) => string>;

/** Writes the screen as it was when `e` was pressed. */
const exportAs =
  (extension: keyof typeof FORMS): Action =>
  store => {
    const { overlay } = store.view;
    if (overlay?.kind !== 'export') return;
    closeSheet(store);
    store.live.exportScreen(extension, FORMS[extension](overlay.frame, store.screen)).then(
      path => store.notice(`Written: ${path}`, 'good'),
      (error: unknown) => store.notice(error instanceof Error ? error.message : String(error), 'bad'),
    );
  };

export const EXPORT_KEY = {
  export: store =>
    store.dispatch({ type: 'overlay', overlay: { kind: 'export', frame: store.terminal.frame() } }),
} satisfies Record<string, Action>;

const EXPORT_KEYS: KeyActions<'export'> = {
  'export-text': exportAs('txt'),
  'export-svg': exportAs('svg'),
  'export-json': exportAs('json'),
};
