import { closeSync, fsyncSync, lstatSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type IdentityKey, keyOf } from '../../model/identity.ts';
import { MARKS, type Mark } from '../../model/report.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import { someOf, visible } from '../../model/text.ts';
import { formatBytes, plural } from '../../model/units.ts';
import { readOwnTail } from '../../observe/state/own-file.ts';
import { MARKS_FILE } from './segments.ts';

/** A rise and fall of less than this is breathing. */
const PEAK_BYTES = 256 * 1024 ** 2;
const PEAK_FALL = 0.75;

interface Peak {
  readonly at: number;
  readonly bytes: number;
}

/** Finds what is worth a mark from one moment to the next. */
export class MarkFinder {
  #before: Snapshot | null = null;
  #leaks: ReadonlySet<IdentityKey> = new Set();
  #silent: ReadonlySet<string> = new Set();
  #ooms: number | null = null;
  #low = Number.POSITIVE_INFINITY;
  #peak: Peak | null = null;

  /** `oomKills`: how often the kernel has killed for memory since boot; null when it does not say. */
  next(snapshot: Snapshot, oomKills: number | null = null): readonly Mark[] {
    const marks = [
      ...this.#boot(snapshot),
      ...this.#outOfMemory(snapshot, oomKills),
      ...this.#newLeaks(snapshot),
      ...this.#newlySilent(snapshot),
      ...this.#peakPassed(snapshot),
    ];
    this.#before = snapshot;
    return marks;
  }

  /** The first look tells of a boot that nobody saw; two looks with different boot ids do not happen to one process. */
  #boot({ takenAt, clock, host }: Snapshot): Mark[] {
    if (this.#before !== null || host.backend !== 'procfs') return [];
    return [{ at: Math.round(takenAt - clock * 1000), mark: 'boot', text: 'the machine started' }];
  }

  /** Marked at the look before it: that one still shows who filled the memory. */
  #outOfMemory({ takenAt }: Snapshot, oomKills: number | null): Mark[] {
    const before = this.#ooms;
    this.#ooms = oomKills;
    if (before === null || oomKills === null || oomKills <= before) return [];
    const text = `the kernel killed ${plural(oomKills - before, 'process', 'processes')} because memory ran out`;
    return [{ at: this.#before?.takenAt ?? takenAt, mark: 'oom', text }];
  }

  #newLeaks({ takenAt, processes }: Snapshot): Mark[] {
    const leaks = processes.filter(p => p.verdict === 'leak' && p.facts.state !== 'Z');
    const fresh = leaks.filter(p => !this.#leaks.has(keyOf(p.facts)));
    this.#leaks = new Set(leaks.map(p => keyOf(p.facts)));
    if (fresh.length === 0) return [];
    return [
      {
        at: takenAt,
        mark: 'leak',
        text: `${fresh.length} leaked: ${someOf([...new Set(fresh.map(p => p.name))])}`,
      },
    ];
  }

  #newlySilent({ takenAt, findings }: Snapshot): Mark[] {
    const silent = findings.filter(f => f.id === 'heartbeat-stale' && f.severity === 'critical');
    const keyFor = (f: (typeof silent)[number]): string => f.files[0] ?? f.title;
    const fresh = silent.filter(f => !this.#silent.has(keyFor(f)));
    this.#silent = new Set(silent.map(keyFor));
    return fresh.map(f => ({ at: takenAt, mark: 'silent', text: f.title.slice(0, 120) }));
  }

  /** A peak is known only when it is past. */
  #peakPassed({ takenAt, totals }: Snapshot): Mark[] {
    const bytes = totals.rss + totals.swap;
    if (this.#peak === null || bytes > this.#peak.bytes) this.#peak = { at: takenAt, bytes };
    const peak = this.#peak;
    const rose = peak.bytes - Math.min(this.#low, peak.bytes) >= PEAK_BYTES;
    const fell = bytes <= peak.bytes * PEAK_FALL && peak.bytes - bytes >= PEAK_BYTES;
    if (fell) {
      this.#low = bytes;
      this.#peak = null;
      return rose ? [{ at: peak.at, mark: 'peak', text: `memory peaked at ${formatBytes(peak.bytes)}` }] : [];
    }
    if (bytes < this.#low) {
      this.#low = bytes;
      if (!rose) this.#peak = { at: takenAt, bytes };
    }
    return [];
  }
}

/** A line is some 80 bytes: this is a mark every ten seconds for a week. */
const MOST_BYTES = 4 * 1024 ** 2;
/** Not worth rewriting below this. */
const LARGE_BYTES = 1024 ** 2;

export interface MarksRead {
  /** Oldest first. */
  readonly marks: readonly Mark[];
  readonly skipped: number;
}

export const readMarks = (recorderDirectory: string): MarksRead => {
  let text: string;
  try {
    text = readOwnTail(join(recorderDirectory, MARKS_FILE), MOST_BYTES) ?? '';
  } catch {
    return { marks: [], skipped: 0 }; // not ours to read: the time line has no marks then
  }
  const lines = text.split('\n').filter(line => line !== '');
  const marks = lines.flatMap(parse);
  return { marks: once(marks.sort((a, b) => a.at - b.at)), skipped: lines.length - marks.length };
};

/** Every writer tells of the boot it runs in, and reckons its moment to a second or so. */
const SAME_BOOT_MS = 5000;

const once = (marks: readonly Mark[]): readonly Mark[] => {
  let boot = Number.NEGATIVE_INFINITY;
  return marks.filter(({ mark, at }) => {
    if (mark !== 'boot') return true;
    const known = at - boot < SAME_BOOT_MS;
    boot = at;
    return !known;
  });
};

const parse = (line: string): Mark[] => {
  try {
    const { at, mark, text } = JSON.parse(line) as Partial<Record<keyof Mark, unknown>>;
    const kind = MARKS.find(known => known === mark);
    if (typeof at !== 'number' || Math.abs(at) > 8.64e15 || kind === undefined || typeof text !== 'string')
      return [];
    return [{ at, mark: kind, text: visible(text).slice(0, 200) }];
  } catch {
    return []; // torn
  }
};

/** Drops what is older than the recording, or than `MOST_BYTES` of newer ones: written beside, then put in its place. */
export const trimMarks = (recorderDirectory: string, oldest: number | null): void => {
  const path = join(recorderDirectory, MARKS_FILE);
  if ((lstatSync(path, { throwIfNoEntry: false })?.size ?? 0) < LARGE_BYTES) return;
  const kept = readMarks(recorderDirectory).marks.filter(({ at }) => oldest === null || at >= oldest);
  const draft = `${path}.new`;
  rmSync(draft, { force: true });
  const fd = openSync(draft, 'wx', 0o600);
  try {
    writeSync(fd, kept.map(mark => `${JSON.stringify(mark)}\n`).join(''));
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(draft, path);
};
