import type { HowRead } from '../../agents/files/format.ts';
import type { Understood } from '../../agents/files/reader.ts';
import { NO_CONTENT, type Reading, type ReadingFormat, readingOf } from '../../model/heartbeat.ts';
import { safePath } from '../../model/redact.ts';
import { type FileStat, READ_LIMIT, readHead, readTail } from './read-bounded.ts';

/** How a file that was found is read, and as what. */
export interface KnownFormat extends HowRead {
  readonly format: ReadingFormat;
  /** Name of the user's source; null for the built-in formats. */
  readonly source: string | null;
}

interface Attempt {
  readonly result: Understood;
  readonly stat: FileStat;
}

const attempt = (path: string, format: KnownFormat, seen: FileStat): Attempt | null => {
  if (format.part === 'none') return { result: format.read({ path, text: '', cut: false }), stat: seen };
  const read = (format.part === 'tail' ? readTail : readHead)(path, READ_LIMIT, { ours: true });
  if (read.ok)
    return {
      result: format.read({ path, text: read.text, cut: read.cut }),
      stat: read.stat,
    };
  if (read.gone) return null;
  return { result: { ok: false, why: read.why }, stat: read.stat ?? seen };
};

/**
 * Reads one known file. What cannot be understood now keeps what was last understood of it, with the
 * reason beside: these files are written by shell redirections and are half there half the time. A path is text that
 * a repository chose: what cannot be shown is spelled out here, and so such a file is shown and never acted on.
 * null: the file is gone.
 */
export const readKnownFile = (
  path: string,
  root: string,
  format: KnownFormat,
  seen: FileStat,
  before: Reading | null,
): Reading | null => {
  const made = attempt(path, format, seen);
  if (made === null) return null;
  const { result, stat } = made;
  return readingOf(result.ok ? result.content : (before ?? NO_CONTENT), {
    path: safePath(path),
    root: safePath(root),
    format: format.format,
    source: format.source,
    mtime: stat.mtimeMs,
    size: stat.size,
    unreadable: result.ok ? null : result.why,
  });
};
