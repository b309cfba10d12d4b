import { type Finding, sameFinding } from '../model/finding.ts';

/** Times and sizes change with every sample and say nothing new. */
const AMOUNTS =
  /\b\d+(?:\.\d+)?\s?(?:[KMGTP]i?B|[KMGTP]|B|%)(?![\w])|\b\d+(?:d\d+h|h\d+m|d|h|m|s| s| min)(?![\w])/g;

/** What a finding says, but for times and sizes: while this is the same, an acknowledged one stays quiet. */
export const saysNow = ({ severity, title, why }: Finding): string =>
  `${severity} ${title}\n${why}`.replace(AMOUNTS, '~');

/** A finding that the user has seen and wants to hear no more of. */
export interface Acknowledgement {
  readonly finding: Finding;
  /** Epoch milliseconds. */
  readonly at: number;
}

export interface Acknowledged {
  /** What is still to be shown. */
  readonly loud: readonly Finding[];
  /** Acknowledged, and the same as then. */
  readonly quiet: readonly Acknowledgement[];
  /** Acknowledged, but it says something else now. */
  readonly changed: readonly Acknowledgement[];
}

/** Tells what was acknowledged from what is new. */
export const apartFromAcknowledged = (
  findings: readonly Finding[],
  acknowledged: readonly Acknowledgement[],
): Acknowledged => {
  const quiet: Acknowledgement[] = [];
  const changed: Acknowledgement[] = [];
  const hidden = new Set<Finding>();
  for (const one of acknowledged) {
    const now = sameFinding(one.finding, findings);
    if (now === undefined) continue;
    if (saysNow(now) === saysNow(one.finding)) {
      hidden.add(now);
      quiet.push(one);
    } else changed.push(one);
  }
  return { loud: hidden.size === 0 ? findings : findings.filter(f => !hidden.has(f)), quiet, changed };
};
