import type { CommandOptions, CommandResult } from '../../../src/observe/run-command.ts';

/** Takes the place of run-command.ts: a tmux that answers as it is told, and notes what it was asked. */
const asks: string[] = [];
const options: CommandOptions[] = [];
let script: CommandResult[] = [];

export const DONE = (stdout: string): CommandResult => ({ status: 'done', code: 0, stdout, stderr: '' });
export const FAILED: CommandResult = { status: 'done', code: 1, stdout: '', stderr: 'no such thing' };
export const MISSING: CommandResult = { status: 'missing' };
export const HUNG: CommandResult = { status: 'timeout' };

export const answers = (...results: CommandResult[]): void => {
  script = results;
  asks.length = 0;
  options.length = 0;
};
export const asked = (): readonly string[] => asks;
/** How the n-th question was put. */
export const optionsOf = (n: number): CommandOptions => options[n]!;

export const runCommand = async (
  command: string,
  args: readonly string[],
  how: CommandOptions,
): Promise<CommandResult> => {
  if (command !== 'tmux') throw new Error(`${command} is not tmux`);
  asks.push(args.join(' '));
  options.push(how);
  const answer = script.shift();
  if (answer === undefined) throw new Error(`nobody expected ${args.join(' ')}`);
  return answer;
};
