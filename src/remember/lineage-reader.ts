import { join } from 'node:path';
import type { LineageEntry } from '../judge/rules/lineage.ts';
import { type IdentityKey, keyOf } from '../model/identity.ts';
import type { Sample } from '../model/observation.ts';
import type { ProcessFacts } from '../model/process.ts';
import { visible } from '../model/text.ts';
import {
  distrust,
  entryFrom,
  LINEAGE_DIRECTORY,
  type LineageLine,
  lineageFiles,
  MOST_ENTRIES,
  parseLine,
  readLines,
} from './lineage-files.ts';

export interface Recalled {
  /** New since the last call: the caller remembers earlier ones. */
  readonly entries: readonly (readonly [IdentityKey, LineageEntry])[];
  /** What was wrong with the files; the same every time until they change. */
  readonly warnings: readonly string[];
}

const NOTHING: Recalled = { entries: [], warnings: [] };

/** The clock is read a moment after a process appeared, and start times are rounded down to a tick. */
const CLOCK_SECONDS = 1;

/**
 * Lineage on disk, read again when it has changed. It may prove that a process is leaked, so every line is checked
 * against the machine: its boot, and that the process which has this pid and start time now was there when the line
 * was written. Never waits for a writer.
 */
export class LineageReader {
  readonly #directory: string | null;
  #stamps = '';
  #warnings: readonly string[] = [];

  constructor(directory: string | null) {
    this.#directory = directory;
  }

  recall(look: Sample): Recalled {
    const boot = look.host.bootId;
    // Elsewhere than on Linux no boot has a name, and a pid and start time of another boot could be meant.
    if (this.#directory === null || look.self === null || boot === null) return NOTHING;
    const { files, leftOut } = lineageFiles(this.#directory);
    const stamps = files.map(({ stamp }) => stamp).join('\n');
    if (stamps === this.#stamps) return { entries: [], warnings: this.#warnings };
    this.#stamps = stamps;
    const warnings: string[] = [];
    const say = (what: string): number => warnings.push(`lineage in ${visible(this.#directory!)}: ${what}`);
    const refused = distrustOf(this.#directory);
    if (refused !== null) {
      say(`not read: ${refused}`);
      this.#warnings = warnings;
      return { entries: [], warnings };
    }
    const found: LineageLine[] = [];
    let wrong = 0;
    let cut = leftOut > 0;
    const check = checker(look, boot);
    for (const file of files) {
      const read = readLines(file);
      if ('refused' in read) {
        say(`${visible(file.path.slice(file.path.lastIndexOf('/') + 1))} is not read: ${read.refused}`);
        continue;
      }
      cut ||= read.cut;
      for (const text of read.lines) {
        const line = check(text);
        if (line === 'wrong') wrong += 1;
        else if (line !== null) found.push(line);
      }
    }
    if (wrong > 0) say(`${wrong} ${wrong === 1 ? 'line is' : 'lines are'} torn or wrong and not used`);
    if (cut || found.length > MOST_ENTRIES) say(`only the newest ${MOST_ENTRIES} entries are used`);
    this.#warnings = warnings;
    return { entries: found.slice(-MOST_ENTRIES).map(entryFrom), warnings };
  }
}

const distrustOf = (directory: string): string | null =>
  distrust(directory) ?? distrust(join(directory, LINEAGE_DIRECTORY));

type Checked = LineageLine | 'wrong' | null;

/** Null: sound, but it speaks of another boot. */
const checker = (look: Sample, boot: string): ((text: string) => Checked) => {
  const byKey = new Map<IdentityKey, ProcessFacts>(look.processes.map(facts => [keyOf(facts), facts]));
  return text => {
    const line = parseLine(text);
    if (line === null) return 'wrong';
    if (line.boot !== boot) return null;
    if (line.seen > look.clock + CLOCK_SECONDS) return 'wrong';
    const facts = byKey.get(keyOf(line));
    const owner = byKey.get(keyOf(line.agent));
    // Nothing was seen before it existed.
    for (const there of [facts, owner])
      if (there?.born != null && there.born > line.seen + CLOCK_SECONDS) return 'wrong';
    return line;
  };
};
