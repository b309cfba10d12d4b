import { readFileSync } from 'node:fs';
import { allPids, type RawProcess, rawProcess } from '../../../support/proc.ts';

/** A process as the kernel shows it, read without any code of the product. */
export interface Seen extends RawProcess {
  /** Arguments joined by blanks; the name in brackets where there are none. */
  readonly command: string;
}

const commandOf = (raw: RawProcess): string => {
  try {
    const text = readFileSync(`/proc/${raw.pid}/cmdline`, 'utf8').replace(/\0+$/, '').replaceAll('\0', ' ');
    return text === '' ? `[${raw.comm}]` : text;
  } catch {
    return `[${raw.comm}]`;
  }
};

/** Every process of the scene that runs: a zombie has ended. */
export const everybody = (): readonly Seen[] =>
  allPids()
    .map(rawProcess)
    .filter((raw): raw is RawProcess => raw !== null && raw.state !== 'Z' && raw.state !== 'X')
    .map(raw => ({ ...raw, command: commandOf(raw) }));

const TICKS_PER_SECOND = 100;

/** Without what comes and goes: Copilot asks git something every second. */
export const lasting = (): readonly Seen[] => {
  const uptime = Number.parseFloat(readFileSync('/proc/uptime', 'utf8'));
  return everybody().filter(({ start }) => uptime - Number(start) / TICKS_PER_SECOND >= 1);
};

/** This process and everything below it, parents first. */
export const below = (pid: number, table: readonly Seen[] = everybody()): readonly Seen[] => {
  const own = table.filter(seen => seen.pid === pid);
  const next = table.filter(seen => seen.ppid === pid && seen.pid !== pid);
  return [...own, ...next.flatMap(child => below(child.pid, table))];
};

export const stillRuns = ({ pid, start }: { readonly pid: number; readonly start: string }): boolean => {
  const now = rawProcess(pid);
  return now !== null && now.start === start && now.state !== 'Z' && now.state !== 'X';
};
