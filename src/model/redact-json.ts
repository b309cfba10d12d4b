import { MASK } from './redact-text.ts';
import { isSecretName } from './secret-name.ts';

/** Objects whose every value may be a secret whatever its name. */
const VAULTS = new Set(['env', 'headers']);

const maskLeaves = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(maskLeaves);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, maskLeaves(inner)]));
  return typeof value === 'string' || typeof value === 'number' ? MASK : value;
};

const maskValue = (value: unknown, argv: (words: readonly string[]) => readonly string[]): unknown => {
  if (typeof value === 'string') return argv([value])[0];
  if (Array.isArray(value)) {
    // `"args": ["--token", "abc"]`: a list of words is a command line.
    if (value.every(item => typeof item === 'string')) return argv(value);
    return value.map(item => maskValue(item, argv));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const secret =
        VAULTS.has(name.toLowerCase()) ||
        isSecretName(name, typeof inner === 'number' ? String(inner) : typeof inner);
      return [name, secret ? maskLeaves(inner) : maskValue(inner, argv)];
    }),
  );
};

/** The JSON with its secrets masked, or null when it is not valid JSON. Unchanged text stays byte for byte. */
export const maskJson = (
  text: string,
  argv: (words: readonly string[]) => readonly string[],
  /** All of it is an environment or a set of headers. */
  vault = false,
): string | null => {
  try {
    const parsed: unknown = JSON.parse(text);
    const masked = JSON.stringify(vault ? maskLeaves(parsed) : maskValue(parsed, argv));
    return masked === JSON.stringify(parsed) ? text : masked;
  } catch {
    return null; // not JSON, or nested too deep to walk
  }
};

/** Index just after the bracket that closes the one at `from`, strings respected; -1 when it never closes. */
export const endOfJson = (text: string, from: number): number => {
  let depth = 0;
  for (let i = from; i < text.length; i += 1) {
    const char = text.charCodeAt(i);
    if (char === 0x22) {
      for (i += 1; i < text.length && text.charCodeAt(i) !== 0x22; i += 1)
        if (text.charCodeAt(i) === 0x5c) i += 1;
    } else if (char === 0x7b || char === 0x5b) depth += 1;
    else if (char === 0x7d || char === 0x5d) {
      depth -= 1;
      if (depth === 0) return i + 1;
    }
  }
  return -1;
};
