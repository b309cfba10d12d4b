import { readFileSync } from 'node:fs';
import { EVIDENCE } from '../../agents/index.ts';
import { ENV_NAMES, type EnvName, type NamedEnv } from '../../model/process.ts';
import { visible } from '../../model/text.ts';
import { BUFFER, readOnceIntoBuffer } from './read.ts';

/** Most environments hold no mark of any agent: one search for the beginning of its names saves one for each. */
const PREFIXES = EVIDENCE.map(({ agent }) => agent.toUpperCase());
const NAMES_BY_PREFIX = PREFIXES.map(
  prefix => [prefix, ENV_NAMES.filter(name => name.startsWith(prefix))] as const,
);
const OTHER_NAMES = ENV_NAMES.filter(name => !PREFIXES.some(prefix => name.startsWith(prefix)));

const namesIn = (text: string): readonly EnvName[] => [
  ...OTHER_NAMES,
  ...NAMES_BY_PREFIX.flatMap(([prefix, names]) => (text.includes(`\0${prefix}`) ? names : [])),
];

/** Beyond the shared buffer: the names we want may lie anywhere. */
const readLongBlock = (path: string): Buffer | null => {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
};

/**
 * Named variables only: the rest of the block is dropped before anything else can see it.
 * Null when it cannot be read: another user's, or gone.
 */
export const readEnv = (root: string, pid: number): NamedEnv | null => {
  const path = `${root}/${pid}/environ`;
  const length = readOnceIntoBuffer(path);
  if (typeof length !== 'number') return null;
  const block = length === BUFFER.length ? readLongBlock(path) : BUFFER.subarray(0, length);
  if (block === null) return null;
  // Searched as one text, a byte a character: splitting it into its forty entries took three times as long.
  const text = `\0${block.toString('latin1')}\0`;
  const env: Partial<Record<EnvName, string>> = {};
  for (const name of namesIn(text)) {
    const found = text.indexOf(`\0${name}=`);
    if (found < 0) continue;
    const from = found + name.length + 1; // `text` begins one before `block`, the value one behind the `=`
    env[name] = visible(block.toString('utf8', from, text.indexOf('\0', from + 1) - 1));
  }
  return env;
};
