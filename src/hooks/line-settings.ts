import { singleQuoted } from '../model/shell.ts';
import { visible } from '../model/text.ts';
import { statePlace } from '../observe/state/state-directory.ts';
import {
  again,
  failed,
  type InstallGround,
  lineDifference,
  orRefuse,
  ownCommand,
  settingsPath,
  visibleLines,
} from './install.ts';
import { statusLineIn, withStatusLine } from './settings-edit.ts';
import { addHooks, beforeInstall, readSettings, removeHooks } from './settings-file.ts';

const OURS = '--once --line claude';

/** Around a status line that is there: both get what Claude says, and ours comes below. */
const WRAP = [`event=$(cat); printf '%s' "$event" | sh -c `, `; printf '%s' "$event" | `] as const;

const wrapped = (theirs: string, ours: string): string =>
  `${WRAP[0]}${singleQuoted(theirs)}${WRAP[1]}${ours}`;

interface Line {
  readonly ours: boolean;
  /** The one that ours is put around. */
  readonly theirs: string | null;
}

/** What a status line consists of. */
const partsOf = (command: string | null): Line => {
  if (command === null) return { ours: false, theirs: null };
  if (!command.endsWith(` ${OURS}`)) return { ours: false, theirs: command };
  const match = /^'((?:[^']|'\\'')*)'/.exec(command.slice(WRAP[0].length));
  return command.startsWith(WRAP[0]) && match !== null
    ? { ours: true, theirs: match[1]!.replaceAll("'\\''", "'") }
    : { ours: true, theirs: null };
};

export type LineAction = 'install' | 'uninstall' | 'status';

/** `reaptop line install|uninstall|status`: in the user's settings, edited as hooks are. */
export const lineSettings = (action: LineAction, ground: InstallGround, dryRun: boolean): Promise<number> =>
  again(ground, settingsPath(ground, 'user'), async () => {
    const { env, script, out } = ground;
    const path = settingsPath(ground, 'user');
    const { directory } = statePlace(env);
    const key = `${path}#statusLine`;
    const text = orRefuse(path, () => readSettings(path));
    const before = text ?? '';
    const { ours, theirs } = orRefuse(path, () => partsOf(statusLineIn(before)));
    const own = `${ownCommand(script, env)} ${OURS}`;
    const wanted = theirs === null ? own : wrapped(theirs, own);
    if (action === 'status') {
      const said = ours
        ? `reaptop's line${theirs === null ? '' : `, below ${visible(theirs)}`}`
        : 'not there';
      out.write(`${visible(path)}: ${said}\n`);
      return 0;
    }
    if (action === 'uninstall' && (!ours || text === null)) {
      out.write(`There is no line of reaptop in ${visible(path)}.\n`);
      return 0;
    }
    const exact = action === 'install' ? undefined : beforeInstall(key, before, directory);
    const after =
      exact === undefined ? withStatusLine(before, action === 'install' ? wanted : theirs) : exact;
    if (after === text) {
      out.write(`The line is in ${visible(path)} already; nothing was changed.\n`);
      return 0;
    }
    if (dryRun) {
      out.write(`Would change ${visible(path)}:\n${visibleLines(lineDifference(before, after ?? ''))}`);
      return 0;
    }
    const why =
      action === 'install'
        ? addHooks(path, text, after ?? '', directory, key)
        : removeHooks(path, before, after, directory, key);
    if (why !== null) return failed(ground, path, why);
    out.write(
      action === 'install'
        ? `The line is in ${visible(path)}. Take it out with: reaptop line uninstall\n`
        : `The line was taken out of ${visible(path)}.\n`,
    );
    return 0;
  });
