import type { ArgumentTest } from '../../agents/family-type.ts';
import { DAEMON_WORDS, HTTP_TRANSPORT, STDIO_TRANSPORT } from '../../agents/mcp.ts';
import { isSessionId } from './argv.ts';

/** Questions about the arguments, which are the words from `from` on. */

const NONE: readonly string[] = [];

const isFlag = (word: string): boolean => word.startsWith('-') && word.length > 1;

/** Where the first word stands that is neither a flag nor the value of one; -1 when there is none. */
const firstPositional = (words: readonly string[], from: number, valueFlags: readonly string[] = NONE) => {
  for (let at = from; at < words.length; at += 1) {
    const word = words[at] as string;
    if (word === '--') return at + 1 < words.length ? at + 1 : -1;
    if (!isFlag(word)) return at;
    if (valueFlags.includes(word)) at += 1;
  }
  return -1;
};

/** The value of the first of these flags (`--flag value` or `--flag=value`); null when none stands before `--`. */
const flagValue = (words: readonly string[], from: number, flags: readonly string[]): string | null => {
  for (let at = from; at < words.length; at += 1) {
    const word = words[at] as string;
    if (word === '--') return null;
    if (flags.includes(word)) return words[at + 1] ?? null;
    const equals = word.indexOf('=');
    if (equals > 0 && flags.includes(word.slice(0, equals))) return word.slice(equals + 1);
  }
  return null;
};

export const hasFlag = (words: readonly string[], from: number, flags: readonly string[]): boolean => {
  for (let at = from; at < words.length; at += 1) {
    const word = words[at] as string;
    if (word === '--') return false;
    if (!isFlag(word)) continue;
    const equals = word.indexOf('=');
    if (flags.includes(equals < 0 ? word : word.slice(0, equals))) return true;
  }
  return false;
};

const beginsWith = (words: readonly string[], from: number, start: readonly string[]): boolean =>
  start.every((word, at) => words[from + at] === word);

export const holds = (
  test: ArgumentTest,
  words: readonly string[],
  from: number,
  valueFlags: readonly string[] = NONE,
): boolean => {
  if (test.bare && words.length > from) return false;
  if (test.start && !test.start.some(start => beginsWith(words, from, start))) return false;
  if (test.command) {
    const at = firstPositional(words, from, valueFlags);
    if (at < 0 || !test.command.includes(words[at] as string)) return false;
  }
  if (test.flag && !hasFlag(words, from, test.flag)) return false;
  const { ending, holding } = test;
  if (ending && !words.some((word, at) => at >= from && ending.some(end => word.endsWith(end)))) return false;
  if (holding && !words.some((word, at) => at >= from && holding.some(text => word.includes(text))))
    return false;
  return true;
};

/** Every value of these flags that looks like a session id, in order, once; `read` takes the id out of a path. */
export const sessionIdsOf = (
  words: readonly string[],
  from: number,
  flags: readonly string[],
  read: (word: string) => string = word => word,
) => {
  let ids: string[] | null = null;
  for (let at = from; at < words.length; at += 1) {
    const word = words[at] as string;
    if (word === '--') break;
    const equals = word.indexOf('=');
    const flag = equals < 0 ? word : word.slice(0, equals);
    if (!flags.includes(flag)) continue;
    const said = equals < 0 ? words[at + 1] : word.slice(equals + 1);
    const value = said === undefined ? undefined : read(said);
    if (value !== undefined && isSessionId(value) && !ids?.includes(value)) {
      ids ??= [];
      ids.push(value);
    }
  }
  return ids ?? NONE;
};

/** `daemon start`, or a flag that says so. */
export const declaresDaemon = (words: readonly string[], from: number): boolean =>
  (words[from] === DAEMON_WORDS.command && DAEMON_WORDS.actions.includes(words[from + 1] ?? '')) ||
  hasFlag(words, from, DAEMON_WORDS.flags);

type TransportWords = typeof HTTP_TRANSPORT;

const says = (transport: TransportWords, words: readonly string[], from: number): boolean => {
  const value = flagValue(words, from, transport.valueFlags);
  const first = words[from];
  return (
    (value !== null && transport.values.includes(value)) ||
    hasFlag(words, from, transport.flags) ||
    (first !== undefined && transport.commands.includes(first))
  );
};

/** What a server's own flags say of its transport; null when they say nothing. */
export const saidTransport = (words: readonly string[], from: number): 'stdio' | 'http' | null => {
  if (says(HTTP_TRANSPORT, words, from)) return 'http';
  return says(STDIO_TRANSPORT, words, from) ? 'stdio' : null;
};
