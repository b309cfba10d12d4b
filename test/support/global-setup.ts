import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { allPids, rawProcess } from './proc.ts';
import { MARK } from './sandbox.ts';

export const nothingLeft = (): void => {
  const left = allPids().filter(pid => {
    try {
      const marked = readFileSync(`/proc/${pid}/environ`, 'latin1').includes(
        `${MARK}=${process.env.REAPTOP_TEST_RUN}.`,
      );
      return marked && rawProcess(pid)?.state !== 'Z';
    } catch {
      return false; // vanished, or another user's
    }
  });
  if (left.length > 0)
    throw new Error(
      `The suite left processes behind: ${left.map(pid => `${pid} (${rawProcess(pid)?.comm})`).join(', ')}`,
    );
};

/** Gives the run a name that every started process carries, and fails the run if one of them is left. */
export default function setup(): () => void {
  process.env.REAPTOP_TEST_RUN = randomBytes(6).toString('hex');
  return nothingLeft;
}
