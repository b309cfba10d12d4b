import { basename } from 'node:path';
import { startAgent } from './agent.ts';
import { childrenOf, isRunning, type RawProcess, rawProcess } from './proc.ts';
import type { Sandbox } from './sandbox.ts';
import { until } from './until.ts';

/** Runs commands below an agent that is then killed: what it leaves, in the order of the commands. */
export const leaveBehind = async (sandbox: Sandbox, ...commands: string[]): Promise<RawProcess[]> => {
  const agent = await startAgent(sandbox, { children: commands });
  const names = commands.map(command => basename(command.split(' ')[0]!).slice(0, 15));
  const left = await until(`${names.join(', ')} below the agent`, () => {
    const children = childrenOf(agent.pid);
    const found = names.map(name => children.find(child => child.comm === name));
    return found.every(child => child !== undefined) ? found : undefined;
  });
  process.kill(agent.pid, 'SIGKILL');
  await until('the leftovers to be adopted', () =>
    left.every(child => rawProcess(child.pid)?.ppid !== agent.pid && !isRunning(agent.pid)),
  );
  return left;
};

/** A program that takes no notice of SIGTERM. */
export const stubborn = (sandbox: Sandbox, name: string): string =>
  sandbox.write(`bin/${name}`, '#!/bin/sh\ntrap "" TERM\nwhile :; do sleep 600; done\n', 0o755);
