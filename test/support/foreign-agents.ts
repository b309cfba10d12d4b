import { readFileSync } from 'node:fs';
import { allPids, pidsWithEnv } from './proc.ts';
import { MARK, type Sandbox } from './sandbox.ts';

const program = (pid: number): string => {
  try {
    const [first = '', second = ''] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    const base = (word: string): string => word.slice(word.lastIndexOf('/') + 1);
    return /^(ba|da|z)?sh$|^node$/.test(base(first)) ? base(second) : base(first);
  } catch {
    return ''; // vanished
  }
};

/** Does a claude run on this machine that this sandbox did not start? The tests may be run by one. */
const foreignAgentRuns = (sandbox: Sandbox): boolean => {
  const ours = new Set(pidsWithEnv(`${MARK}=${sandbox.mark}`));
  return allPids().some(pid => !ours.has(pid) && program(pid) === 'claude');
};

/**
 * What the contract says of a process whose environment names a dead session: leaked, unless an agent
 * that nobody registered might be the one (section 4). Then it is only suspect.
 */
export const verdictOfDeadOwner = (sandbox: Sandbox): 'leak' | 'suspect' =>
  foreignAgentRuns(sandbox) ? 'suspect' : 'leak';
