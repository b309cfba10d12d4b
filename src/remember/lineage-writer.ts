import { join } from 'node:path';
import { appendLines } from '../observe/state/append.ts';
import { errorSentence, replaceOwn } from '../observe/state/own-file.ts';
import { makeStateDirectory } from '../observe/state/state-directory.ts';
import { LINEAGE_DIRECTORY, LINEAGE_FILE } from './lineage-files.ts';
import { asSessionName, type LineageLine, lineText } from './lineage-line.ts';

/** Adds lines at the end of `lineage.jsonl`. Never throws: a warning comes back instead. */
export const appendLineage = (directory: string, lines: readonly LineageLine[]): string | null =>
  lines.length === 0
    ? null
    : warned('lineage could not be written', () => {
        makeStateDirectory(directory);
        appendLines(join(directory, LINEAGE_FILE), () => lines.map(lineText).join(''));
      });

/** What a session leaves when it ends, in a file of its own: whoever ends beside it writes another. */
export const writeSessionLineage = (
  directory: string,
  session: string,
  lines: readonly LineageLine[],
): string | null => {
  const name = asSessionName(session);
  if (name === null) return 'lineage was not written: the session has no name that a file could have';
  return warned('lineage could not be written', () => {
    makeStateDirectory(directory);
    makeStateDirectory(join(directory, LINEAGE_DIRECTORY));
    const path = join(directory, LINEAGE_DIRECTORY, `${name}.jsonl`);
    replaceOwn(path, lines.map(lineText).join(''), { durable: true });
  });
};

const warned = (what: string, work: () => void): string | null => {
  try {
    work();
    return null;
  } catch (error) {
    return `${what}: ${errorSentence(error)}`;
  }
};
