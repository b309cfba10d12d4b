import type { CommandResult } from '../../../src/observe/run-command.ts';

/** Takes the place of run-command.ts: a tmux that answers as it is told, and notes what it was asked. */
const asks: string[] = [];
let script: CommandResult[] = [];

export const DONE = (stdout: string): CommandResult => ({ status: 'done', code: 0, stdout, stderr: '' });
export const FAILED: CommandResult = { status: 'done', code: 1, stdout: '', stderr: 'no such thing' };
export const MISSING: CommandResult = { status: 'missing' };
export const HUNG: CommandResult = { status: 'timeout' };

export const answers = (...results: CommandResult[]): void => {
  script = results;
  asks.length = 0;
};
export const asked = (): readonly string[] => asks;

export const runCommand = async (command: string, args: readonly string[]): Promise<CommandResult> => {
  if (command !== 'tmux') throw new Error(`${command} is not tmux`);
  asks.push(args.join(' '));
  const answer = script.shift();
  if (answer === undefined) throw new Error(`nobody expected ${args.join(' ')}`);
  return answer;
};
