import { beforeEach, expect, test } from 'vitest';
import { endTree as endTreeOn, type TreeMachine } from '../../src/act/run-child.ts';
import type { Identity } from '../../src/model/identity.ts';

interface Member {
  start: string;
  ppid: number;
  state: string;
  /** What it does with a signal; nothing: it ends. */
  reaction?: (signal: string) => void;
}

/** A machine in memory in the place of /proc, kill(2) and time. */
const machine = { now: 0, processes: new Map<number, Member>(), sent: [] as string[] };
const MACHINE: TreeMachine = {
  readOnly: null,
  presence: pid => {
    const p = machine.processes.get(pid);
    if (p === undefined) return { status: 'gone' };
    const { start, state, ppid } = p;
    return { status: 'present', identity: { pid, start }, state, ppid, pgid: pid, sid: pid, rss: 0 };
  },
  deliver: (pid, signal) => {
    machine.sent.push(`${pid} ${signal}`);
    const { reaction } = machine.processes.get(pid)!;
    if (reaction === undefined) remove(pid);
    else reaction(signal);
  },
  kin: () => new Map([...machine.processes].map(([pid, p]) => [pid, { pid, ...p }])),
  isRunning: ({ pid, start }) => {
    const p = machine.processes.get(pid);
    return p?.start === start && p.state !== 'Z';
  },
  clock: {
    now: () => machine.now,
    wait: async ms => {
      machine.now += ms;
    },
  },
};
const endTree = (roots: readonly Identity[], others?: () => readonly Identity[]): Promise<boolean> =>
  endTreeOn(roots, others, MACHINE);

const add = (pid: number, ppid: number, reaction?: (signal: string) => void): Identity => {
  machine.processes.set(pid, { start: `s${pid}`, ppid, state: 'S', ...(reaction && { reaction }) });
  return { pid, start: `s${pid}` };
};
const remove = (pid: number): void => {
  machine.processes.delete(pid);
  for (const p of machine.processes.values()) if (p.ppid === pid) p.ppid = 1;
};
const deaf = (): void => {};
const mortal = (pid: number) => (signal: string) => {
  if (signal === 'SIGKILL') remove(pid);
};

beforeEach(() => {
  machine.processes.clear();
  machine.sent.length = 0;
  machine.now = 5000;
  add(1, 0);
  add(50, 1, deaf);
});

test('a tree gets TERM once, parents first, and nobody beside it gets anything', async () => {
  const root = add(10, 50, () => {});
  add(11, 10, () => {});
  add(12, 11);
  machine.processes.get(10)!.reaction = () => machine.now >= 5100 || undefined;
  const ending = () => {
    for (const pid of [10, 11]) remove(pid);
  };
  machine.processes.get(11)!.reaction = ending;
  expect(await endTree([root])).toBe(true);
  expect(machine.sent).toEqual(['10 SIGTERM', '11 SIGTERM', '12 SIGTERM']);
  expect([...machine.processes.keys()]).toEqual([1, 50]);
});

test('what has ended before needs nothing, and whoever has its number is left alone', async () => {
  const root = { pid: 10, start: 'old' };
  expect(await endTree([root])).toBe(true);
  add(10, 50);
  add(11, 10);
  expect(await endTree([root])).toBe(true);
  expect(machine.sent).toEqual([]);
  expect(machine.now).toBe(5000);
});

test('who takes no notice is killed after two seconds, and each gets one TERM only', async () => {
  const root = add(10, 50, mortal(10));
  expect(await endTree([root])).toBe(true);
  expect(machine.sent).toEqual(['10 SIGTERM', '10 SIGKILL']);
  // One more look after the signal.
  expect(machine.now - 5000).toBe(2000 + 50);
});

test('what was once seen in it stays in it, also after its parent ended; so does what it starts meanwhile', async () => {
  const root = add(10, 50);
  add(11, 10, signal => {
    if (signal === 'SIGTERM' && !machine.processes.has(12)) add(12, 11, mortal(12));
    else mortal(11)(signal);
  });
  expect(await endTree([root])).toBe(true);
  expect(machine.sent).toEqual(['10 SIGTERM', '11 SIGTERM', '12 SIGTERM', '11 SIGKILL', '12 SIGKILL']);
});

test('one that ended and is not reaped does not run', async () => {
  const root = add(10, 50, () => {
    machine.processes.get(10)!.state = 'Z';
  });
  expect(await endTree([root])).toBe(true);
  expect(machine.sent).toEqual(['10 SIGTERM']);
});

test('what outlives forty rounds of KILL is said to be left', async () => {
  const root = add(10, 50, deaf);
  expect(await endTree([root])).toBe(false);
  expect(machine.sent.filter(sent => sent === '10 SIGKILL')).toHaveLength(40);
  machine.sent.length = 0;
  let kills = 0;
  machine.processes.get(10)!.reaction = signal => {
    if (signal === 'SIGKILL') kills += 1;
    if (kills === 40) remove(10);
  };
  expect(await endTree([root])).toBe(true);
});

test('what left the tree before we looked is ended with it, when somebody knows it', async () => {
  const root = add(10, 50);
  const other = add(20, 1, mortal(20));
  add(21, 20, mortal(21));
  expect(await endTree([root], () => [other])).toBe(true);
  expect([...machine.processes.keys()]).toEqual([1, 50]);
});
