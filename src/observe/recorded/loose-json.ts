import { quoteArgs } from '../../model/text.ts';
import { parseElapsed, parseSpokenAge } from '../../model/time.ts';
import { type Fields, isFields, numberAt, textAt } from './fields.ts';
import { emptyRow, isPid, MAX_PID, type Row } from './row.ts';
import type { Surroundings } from './table.ts';

const commandOf = (fields: Fields): string | null => {
  for (const name of ['argv', 'args', 'command', 'cmd']) {
    const value = fields[name];
    if (Array.isArray(value) && value.every(word => typeof word === 'string'))
      return quoteArgs(value, Number.POSITIVE_INFINITY);
  }
  return textAt(fields, 'command', 'cmd', 'args', 'commandLine');
};

/** KiB like ps, unless the key says otherwise. */
const rssOf = (fields: Fields): number | null => {
  const bytes = numberAt(fields, 'rss_bytes', 'rssBytes');
  if (bytes !== null) return bytes;
  const kib = numberAt(fields, 'rss_kb', 'rss', 'rssKb');
  return kib === null ? null : kib * 1024;
};

/** `etime` as ps prints it, in people's words, or a start time where the report had only that. */
const readAge = (row: Row, text: string | null): void => {
  if (text === null) return;
  const start = /^l?start\s+(.+)$/i.exec(text);
  if (start !== null) row.startText = start[1]!.replace(/\s+/g, ' ');
  else row.ageSeconds = parseElapsed(text.trim()) ?? parseSpokenAge(text);
};

const rowOf = (fields: Fields): Row | 'out-of-range' => {
  const pid = numberAt(fields, 'pid', 'PID');
  const ppid = numberAt(fields, 'ppid', 'PPID');
  const rss = rssOf(fields);
  if (pid !== null && (!isPid(pid) || pid === 0)) return 'out-of-range';
  if ((ppid !== null && !isPid(ppid)) || (rss !== null && (rss < 0 || rss > Number.MAX_SAFE_INTEGER)))
    return 'out-of-range';
  const row: Row = {
    ...emptyRow(),
    pid,
    ppid,
    pgid: numberAt(fields, 'pgid', 'pgrp'),
    sid: numberAt(fields, 'sid', 'sess', 'session'),
    uid: numberAt(fields, 'uid'),
    tty: textAt(fields, 'tty', 'tt', 'tty_name'),
    stat: textAt(fields, 'stat', 'state', 's'),
    rss: rss === null ? null : Math.round(rss),
    comm: textAt(fields, 'comm', 'ucomm', 'name'),
    command: commandOf(fields),
    cwd: textAt(fields, 'cwd'),
    startText: textAt(fields, 'lstart', 'start', 'started', 'stime'),
  };
  readAge(row, textAt(fields, 'etime', 'etimes', 'elapsed', 'ageSeconds'));
  return row;
};

const platformOf = (items: readonly Fields[]): string | null => {
  const words = new Set(items.map(item => /^[a-z]+/.exec(textAt(item, 'platform') ?? '')?.[0] ?? ''));
  words.delete('');
  const [only] = words;
  return words.size !== 1 ? null : only === 'macos' ? 'darwin' : only!;
};

/** Objects with ps-like keys: what people paste into reports and scripts write. Null means the source did not say. */
export const readLooseJson = (
  items: readonly unknown[],
  skippedLines: number,
): { readonly rows: readonly Row[]; readonly around: Surroundings } => {
  const objects = items.filter(isFields);
  const read = objects.map(rowOf);
  const rows = read
    .filter(row => row !== 'out-of-range')
    .filter(row => row.pid !== null || row.command !== null);
  const lost = items.length - rows.length + skippedLines;
  const unnumbered = rows.filter(row => row.pid === null).length;
  const sources = new Set(objects.map(item => textAt(item, 'source')));
  sources.delete(null);
  const platform = platformOf(objects);
  return {
    rows,
    around: {
      takenAt: null,
      host: platform === null ? {} : { platform },
      tmux: [],
      warnings: [
        ...(lost === 0 ? [] : [`${lost} of the recorded rows could not be read and were left out.`]),
        ...(unnumbered === 0
          ? []
          : [
              `${unnumbered} of the recorded rows had no PID: they are shown with made-up ones above ${MAX_PID}.`,
            ]),
        ...(sources.size < 2
          ? []
          : [
              `The rows come from ${sources.size} sources and are read as one machine: parents may be mixed up.`,
            ]),
      ],
    },
  };
};
