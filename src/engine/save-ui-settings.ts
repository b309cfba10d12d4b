import { mkdirSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { visible } from '../model/text.ts';
import type { UiSettings } from '../model/ui-settings.ts';
import { readHead } from '../observe/files/read-bounded.ts';
import { errorSentence, replaceOwn, writeUnderFreeName } from '../observe/state/own-file.ts';
import { liesWithUs } from '../observe/state/state-directory.ts';

const CONFIG_LIMIT = 1024 ** 2;
const MOST_BACKUPS = 1000;

/** A config is often a link into a repository of such files: what it points to is written, the link stays. */
const realPlace = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return path; // there is none yet
  }
};

/** The file as it was, under a name that is free. */
const backUp = (path: string, text: string): string => {
  const names = Array.from({ length: MOST_BACKUPS }, (_, n) => `${path}.bak${n === 0 ? '' : `.${n}`}`);
  const name = writeUnderFreeName(names, text);
  if (name === null) throw new Error(`there are ${MOST_BACKUPS} backups already`);
  return name;
};

const present = (path: string): string | null => {
  const read = readHead(path, CONFIG_LIMIT);
  if (read.ok && !read.cut) return read.text;
  if (!read.ok && read.gone) return null;
  throw new Error(read.ok ? 'it is too long' : (read.code ?? read.why));
};

const sentence = (path: string, why: string): Error =>
  new Error(`Nothing was saved: ${visible(path)}: ${why}.`);

/**
 * Puts these settings into the user's config and leaves the rest of it alone. A file that is not valid now, by hand
 * or by half, is the user's to mend: nothing is written over it. Resolves to a sentence that says what was done.
 */
export const saveSettings = async (named: string, settings: UiSettings): Promise<string> => {
  const path = realPlace(named);
  const { parseUserConfig } = await import('./config-schema.ts');
  try {
    const before = present(path);
    const parsed = before === null ? null : parseUserConfig(before);
    if (parsed?.ok === false) throw new Error(parsed.message);
    const { theme, columns, mouse, interval } = settings;
    const whole = { ...(before === null ? {} : JSON.parse(before)), theme, columns, mouse, interval };
    const text = `${JSON.stringify(whole, null, 2)}\n`;
    if (text === before) return `No changes to save in ${visible(path)}.`;
    if (!liesWithUs(path)) throw new Error("it lies in another user's directory");
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const backup = before === null ? null : backUp(path, before);
    replaceOwn(path, text, { durable: true });
    return `Saved to ${visible(path)}${backup === null ? '' : `; as it was: ${visible(backup)}`}.`;
  } catch (error) {
    throw sentence(path, errorSentence(error));
  }
};
