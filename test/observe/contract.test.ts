import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { signalIdentity } from '../../src/act/send-signal.ts';
import { darwinSystem } from '../../src/observe/darwin/system.ts';
import { portableSystem } from '../../src/observe/portable/system.ts';
import { procfsSystem } from '../../src/observe/procfs/system.ts';
import { readRecorded, recordedSystem } from '../../src/observe/recorded/load.ts';
import type { System } from '../../src/observe/system.ts';
import { FakeSystem } from '../act/fake-system.ts';
import { macTools } from '../support/mac/mac.ts';
import { isRunning } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { holdsTheContract, type Stage } from './contract.ts';

let sandbox: Sandbox;
const path = process.env.PATH;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(async () => {
  process.env.PATH = path;
  await sandbox.close();
});

/** A real process, identified by the system that is asked about. */
const realStage = async (system: System, blind: System): Promise<Stage> => {
  const { child, pid, start } = sandbox.start([sandbox.sleeper('victim'), '1000']);
  const now = await system.presence(pid);
  if (now.status !== 'present') throw new Error(`the victim is ${now.status}`);
  return {
    system,
    blind,
    victim: now.identity,
    runs: () => isRunning(pid, start),
    end: async () => {
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
};

holdsTheContract('procfs', async () => {
  const stage = await realStage(procfsSystem(), procfsSystem({ root: sandbox.path('proc') }));
  // A stat that makes no sense is as good as one that may not be read.
  sandbox.write(`proc/${stage.victim.pid}/stat`, 'nonsense');
  return stage;
});

holdsTheContract('portable', () => {
  const system = portableSystem();
  const blind: System = {
    ...system,
    presence: async pid => {
      process.env.PATH = sandbox.path('work');
      try {
        return await system.presence(pid);
      } finally {
        process.env.PATH = path;
      }
    },
  };
  return realStage(system, blind);
});

holdsTheContract('darwin', () => {
  process.env.PATH = `${macTools(sandbox)}:${path}`;
  const system = darwinSystem();
  const blind: System = {
    ...system,
    presence: async pid => {
      const tools = process.env.PATH;
      process.env.PATH = sandbox.path('work');
      try {
        return await system.presence(pid);
      } finally {
        process.env.PATH = tools;
      }
    },
  };
  return realStage(system, blind);
});

holdsTheContract('recorded', async () => {
  const { pid, start } = sandbox.start([sandbox.sleeper('victim'), '1000']);
  const listing = `PID PPID STAT COMMAND\n${pid} 1 S sleep\n2 0 S two\n1 0 S init\n`;
  const read = readRecorded(listing, { now: Date.now() });
  if (!read.ok) throw new Error(read.message);
  const system = recordedSystem(read.table);
  const now = await system.presence(pid);
  if (now.status !== 'present') throw new Error('the table lacks its row');
  const blind: System = { ...system, presence: () => ({ status: 'unreadable', why: 'not in the table' }) };
  const runs = () => isRunning(pid, start);
  return { system, blind, victim: now.identity, runs, end: async () => {} };
});

holdsTheContract('the fake of the tests', async () => {
  const system = new FakeSystem();
  const victim = system.add(700, 1);
  system.add(2, 0);
  const blind = new FakeSystem();
  blind.add(700, 1);
  blind.unreadable.add(700);
  return { system, blind, victim, runs: () => system.has(700), end: async () => {} };
});

test('nothing can happen between the read of the identity and the signal, where it is read at once', () => {
  const machine = new FakeSystem();
  const victim = machine.add(700, 1);
  void signalIdentity(machine, victim, 'SIGTERM');
  expect(machine.sent).toEqual(['700 SIGTERM']);
  // procfs answers at once; a promise here would open the window again.
  expect(procfsSystem().presence(process.pid)).not.toBeInstanceOf(Promise);
});
