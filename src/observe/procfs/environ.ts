import { readFileSync } from 'node:fs';
import { EVIDENCE } from '../../agents/families.ts';
import { ENV_NAMES, type EnvName, type NamedEnv } from '../../model/process.ts';
import { visible } from '../../model/text.ts';
import { BUFFER, readOnceIntoBuffer } from './read.ts';
import { isEmptyEnviron } from './stat.ts';

/** A name as it stands in a block. */
interface Wanted {
  readonly name: EnvName;
  readonly begin: string;
}

const wanted = (name: EnvName): Wanted => ({ name, begin: `\0${name}=` });

/** Most environments hold no mark of any agent: one search for the beginning of its names saves one for each. */
const PREFIXES = EVIDENCE.map(({ agent }) => agent.toUpperCase());
const BY_PREFIX = PREFIXES.map(prefix => ({
  begin: `\0${prefix}`,
  names: ENV_NAMES.filter(name => name.startsWith(prefix)).map(wanted),
}));
const OTHERS = ENV_NAMES.filter(name => !PREFIXES.some(prefix => name.startsWith(prefix))).map(wanted);

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
 * Null when it cannot be read: another user's, gone, or in the middle of an exec.
 */
export const readEnv = (root: string, pid: number): NamedEnv | null => {
  const path = `${root}/${pid}/environ`;
  const length = readOnceIntoBuffer(path);
  if (typeof length !== 'number') return null;
  if (length === 0 && !isEmptyEnviron(root, pid)) return null;
  if (length === BUFFER.length) {
    const block = readLongBlock(path);
    return block === null ? null : envIn(block);
  }
  // What one shell or one daemon started has one environment: the last is kept for its neighbours. Its bytes were
  // in the shared buffer until the next read anyway.
  const asBefore = length === last.length && BUFFER.compare(last.bytes, 0, length, 0, length) === 0;
  if (!asBefore) {
    last.env = envIn(BUFFER.subarray(0, length));
    last.length = BUFFER.copy(last.bytes, 0, 0, length);
  }
  return last.env;
};

/** No block is as long as that at first. */
const last = { bytes: Buffer.alloc(BUFFER.length), length: -1, env: {} as NamedEnv };

const envIn = (block: Buffer): NamedEnv => {
  // Searched as one text, a byte a character: splitting it into its forty entries took three times as long.
  const text = `\0${block.toString('latin1')}\0`;
  const env: Partial<Record<EnvName, string>> = {};
  const look = ({ name, begin }: Wanted): void => {
    const found = text.indexOf(begin);
    if (found < 0) return;
    const from = found + name.length + 1; // `text` begins one before `block`, the value one behind the `=`
    env[name] = visible(block.toString('utf8', from, text.indexOf('\0', from + 1) - 1));
  };
  for (const each of OTHERS) look(each);
  for (const { begin, names } of BY_PREFIX) if (text.includes(begin)) for (const each of names) look(each);
  return env;
};
