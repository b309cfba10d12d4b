import { type Finding, type Severity, sameFinding } from '../model/finding.ts';
import { keyOf } from '../model/identity.ts';
import type { Snapshot } from '../model/snapshot.ts';
import type { LogLine } from './live.ts';

const TONES = { info: 'plain', warn: 'warn', critical: 'bad' } satisfies Record<Severity, LogLine['tone']>;

/** The same finding has nearly always the same first process or file. */
const mainly = ({ id, processes: [first], files, title }: Finding): string =>
  `${id} ${first === undefined ? (files[0] ?? title) : keyOf(first)}`;

/** Which of these are not among the others. */
const notAmong = (findings: readonly Finding[], others: readonly Finding[]): readonly Finding[] => {
  const known = new Set(others.map(mainly));
  return findings.filter(one => !known.has(mainly(one)) && sameFinding(one, others) === undefined);
};

/** Tells which findings came and which went since the look before. */
export class FindingLog {
  #before: readonly Finding[] | null = null;

  look({ findings, takenAt: at }: Pick<Snapshot, 'findings' | 'takenAt'>): readonly LogLine[] {
    const before = this.#before ?? findings;
    this.#before = findings;
    const told = (word: string, tone: (f: Finding) => LogLine['tone']) => (f: Finding) => ({
      at,
      text: `${word}: ${f.title}`,
      tone: tone(f),
      about: f.processes[0] ?? null,
    });
    return [
      ...notAmong(before, findings).map(told('over', () => 'good')),
      ...notAmong(findings, before).map(told('found', ({ severity }) => TONES[severity])),
    ];
  }
}
