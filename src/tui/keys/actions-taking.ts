import { stripVTControlCharacters } from 'node:util';
import { shellLine } from '../../model/shell.ts';
import type { JudgedProcess } from '../../model/snapshot.ts';
import { snapshotJson } from '../../model/snapshot-json.ts';
import { showableJson } from '../../model/text.ts';
import { cells } from '../../model/width.ts';
import { svgOf } from '../look/svg.ts';
import { themeNameOf } from '../view/look.ts';
import type { Action, Controls } from './action.ts';

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
} satisfies Record<string, (frame: readonly string[], controller: Controls) => string>;

/** Writes the screen as it was when `e` was pressed. */
const exportAs =
  (extension: keyof typeof FORMS): Action =>
  controller => {
    const { overlay } = controller.view;
    if (overlay?.kind !== 'export') return;
    controller.dispatch({ type: 'overlay', overlay: null });
    controller.live.exportScreen(extension, FORMS[extension](overlay.frame, controller)).then(
      path => controller.notice(`Written: ${path}`, 'good'),
      (error: unknown) => controller.notice(error instanceof Error ? error.message : String(error), 'bad'),
    );
  };

/** As a shell can take it: what is shown keeps `$`, `;` and the like as they are. */
const commandOf = ({ facts, command }: JudgedProcess): string =>
  shellLine(facts.argv === null || facts.argv.length === 0 ? [command] : facts.argv);

/** Pids first; the same again, straight after: the command lines. */
const copy: Action = controller => {
  const { targets } = controller;
  const pids = targets.map(p => p.facts.pid).join(' ');
  const again = controller.copied === pids;
  const text = again ? targets.map(commandOf).join('\n') : pids;
  controller.copied = again ? null : pids;
  const what = again ? 'Copied the command' : `Copied ${pids}; Y again copies the command`;
  controller.toClipboard(text);
  controller.live.copyToTmux(text).then(
    inTmux => controller.notice(`${what}${inTmux ? ', also to the buffer of tmux' : ''}.`, 'good'),
    () => controller.notice(`${what}.`, 'good'), // tmux is not there: the terminal has it
  );
};

export const TAKING = {
  export: controller =>
    controller.dispatch({ type: 'overlay', overlay: { kind: 'export', frame: controller.frame() } }),
  'export-text': exportAs('txt'),
  'export-svg': exportAs('svg'),
  'export-json': exportAs('json'),
  copy,
} satisfies Record<string, Action>;
