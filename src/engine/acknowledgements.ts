import { join } from 'node:path';
import { type Acknowledgement, apartFromAcknowledged } from '../judge/acknowledge.ts';
import { FINDING_IDS, type Finding, SEVERITIES } from '../model/finding.ts';
import { asArray, isJsonObject, type JsonObject, numberAt, textAt } from '../model/json.ts';
import { visible } from '../model/text.ts';
import { errorSentence, readOwnTail, replaceOwn } from '../observe/state/own-file.ts';
import { makeStateDirectory } from '../observe/state/state-directory.ts';

const ACKNOWLEDGED_FILE = 'acknowledged.json';
const MOST_BYTES = 256 * 1024;
const MOST = 200;
const KEEP_MS = 30 * 24 * 3_600_000;

/** What the user acknowledged, kept over restarts. Without a directory it lasts as long as the screen. */
export class Acknowledgements {
  readonly #path: string | null;
  readonly #directory: string | null;
  #all: readonly Acknowledgement[];

  constructor(directory: string | null) {
    this.#directory = directory;
    this.#path = directory === null ? null : join(directory, ACKNOWLEDGED_FILE);
    this.#all = this.#path === null ? [] : read(this.#path);
  }

  get all(): readonly Acknowledgement[] {
    return this.#all;
  }

  /** The findings that are to be shown; what changed since it was acknowledged is forgotten. */
  loud(findings: readonly Finding[]): readonly Finding[] {
    if (this.#all.length === 0) return findings;
    const { loud, changed } = apartFromAcknowledged(findings, this.#all);
    if (changed.length > 0) this.#set(this.#all.filter(one => !changed.includes(one)));
    return loud;
  }

  /** Null, or why it will be forgotten with this screen. */
  add(finding: Finding, at: number): string | null {
    const kept = this.#all.filter(one => one.at > at - KEEP_MS).slice(1 - MOST);
    return this.#set([...kept, { finding, at }]);
  }

  remove(finding: Finding): void {
    this.#set(this.#all.filter(one => one.finding !== finding));
  }

  #set(all: readonly Acknowledgement[]): string | null {
    this.#all = all;
    if (this.#path === null || this.#directory === null) return null;
    try {
      makeStateDirectory(this.#directory);
      replaceOwn(this.#path, `${JSON.stringify(all)}\n`);
      return null;
    } catch (error) {
      return errorSentence(error);
    }
  }
}

const read = (path: string): readonly Acknowledgement[] => {
  try {
    const parsed: unknown = JSON.parse(readOwnTail(path, MOST_BYTES) ?? '[]');
    return asArray(parsed)
      .filter(isJsonObject)
      .flatMap(one => acknowledgementOf(one) ?? []);
  } catch {
    return []; // torn or unreadable: everything is shown, and written anew with the next one
  }
};

const acknowledgementOf = (fields: JsonObject): Acknowledgement | null => {
  const { finding } = fields;
  const at = numberAt(fields, 'at');
  if (!isJsonObject(finding) || at === null) return null;
  const id = FINDING_IDS.find(known => known === finding.id);
  const severity = SEVERITIES.find(known => known === finding.severity);
  if (id === undefined || severity === undefined) return null;
  const text = (name: string): string => visible(textAt(finding, name) ?? '');
  return {
    at,
    finding: {
      id,
      severity,
      title: text('title'),
      why: text('why'),
      processes: asArray(finding.processes)
        .filter(isJsonObject)
        .flatMap(one => {
          const [pid, start] = [numberAt(one, 'pid'), textAt(one, 'start')];
          return pid === null || start === null ? [] : [{ pid, start }];
        }),
      files: asArray(finding.files).filter(file => typeof file === 'string'),
      remedy: text('remedy'),
      action: null,
    },
  };
};
