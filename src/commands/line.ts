import { writeSync } from 'node:fs';
import { readEvent } from '../hooks/stdin.ts';
import { type LineOptions, type LineStyle, statusLine } from '../judge/status-line.ts';
import { stateDirectory } from '../observe/state/state-directory.ts';
import { isFresh, readLatest } from '../remember/latest.ts';

/** Which session asks: Claude passes it on standard input. Null: unknown. */
export const askingSession = async (style: LineStyle): Promise<string | null> => {
  if (style !== 'claude' || process.stdin.isTTY === true) return null;
  const told = await readEvent();
  if (!told.ok) return null;
  try {
    const { session_id: id } = JSON.parse(told.text) as { session_id?: unknown };
    return typeof id === 'string' ? id : null;
  } catch {
    return null; // no JSON: the line is for anybody then
  }
};

/** Anything more than the line is left to the whole program. */
const WORDS = new Set(['--once', '--line', 'claude', 'tmux', '--always', '--no-color']);

/** A bar is not a terminal, and has colours all the same. */
export const lineOptions = (
  style: LineStyle,
  { always, color }: { readonly always: boolean; readonly color: boolean },
  env: NodeJS.ProcessEnv,
): Omit<LineOptions, 'own'> => {
  const columns = Number(env.COLUMNS);
  return {
    style,
    always,
    color: color && (env.NO_COLOR ?? '') === '',
    width: Number.isInteger(columns) && columns > 0 ? columns : null,
  };
};

const say = (text: string): void => {
  try {
    if (text !== '') writeSync(1, `${text}\n`);
  } catch {
    // nobody listens any more
  }
};

/**
 * `reaptop --once --line` from guard's last sample, without a look of our own. False: there is no fresh one, or the
 * words ask for something else.
 */
export const lineEntry = (args: readonly string[]): boolean => {
  if (!args.includes('--once') || !args.every(word => WORDS.has(word))) return false;
  const latest = readLatest(stateDirectory(process.env));
  if (latest === null || !isFresh(latest, Date.now())) return false;
  const style = args[args.indexOf('--line') + 1] === 'claude' ? 'claude' : 'tmux';
  void askingSession(style)
    .catch(() => null)
    .then(own => {
      const options = { always: args.includes('--always'), color: !args.includes('--no-color') };
      say(statusLine(latest, { ...lineOptions(style, options, process.env), own }));
      process.exit(0);
    });
  return true;
};
