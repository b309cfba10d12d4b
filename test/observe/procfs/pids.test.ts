import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { PidList } from '../../../src/observe/procfs/pids.ts';
import { FakeProc } from './fake-proc.ts';

/** Enough that the list is worth following instead of reading. */
const FIRST = 1000;
const MANY = 1100;

let proc: FakeProc;
let tasks: number;
let last: number;
let list: PidList;
let clock: number;

beforeAll(() => {
  proc = new FakeProc();
  proc.link('self', String(process.pid));
  for (let pid = FIRST; pid < FIRST + MANY; pid += 1) mkdirSync(join(proc.root, String(pid)));
});
afterAll(() => proc.close());

const counted = (): void => proc.file('loadavg', `0.20 0.18 0.12 1/${tasks} ${last}\n`);
const read = (seconds = 2): readonly number[] => {
  clock += seconds;
  counted();
  const pids = list.read(clock);
  if (typeof pids === 'string') throw new Error(pids);
  return pids;
};
/** A process or a thread comes to be; a thread can be opened by its number, though /proc does not list it. */
const born = (id: number, leader = id): void => {
  tasks += 1;
  last = id;
  proc.file(`${id}/status`, `Name:\tx\nTgid:\t${leader}\nPid:\t${id}\n`);
};
const ended = (id: number): void => {
  tasks -= 1;
  rmSync(join(proc.root, String(id)), { recursive: true, force: true });
};

beforeEach(() => {
  for (const pid of [5000, 5001, 5002])
    rmSync(join(proc.root, String(pid)), { recursive: true, force: true });
  for (const pid of [FIRST, FIRST + 1]) mkdirSync(join(proc.root, String(pid)), { recursive: true });
  list = new PidList(proc.root);
  tasks = MANY + 50;
  last = 4999;
  clock = 100;
  expect(read()).toHaveLength(MANY);
});

it('a process that was born is there at once', () => {
  born(5000);
  expect(read()).toContain(5000);
  expect(read()).toHaveLength(MANY + 1);
});

it('a thread is no process', () => {
  born(5000, FIRST);
  // Were it listed anew, the thread's directory would count: the list was followed, not read.
  expect(read()).toHaveLength(MANY);
});

it('a process that ended is gone at once, also when another was born meanwhile', () => {
  ended(FIRST);
  expect(read()).not.toContain(FIRST);
  born(5000);
  ended(FIRST + 1);
  const pids = read();
  expect(pids).toContain(5000);
  expect(pids).not.toContain(FIRST + 1);
});

it('one that came and went between two looks leaves no trace', () => {
  born(5000);
  ended(5000);
  expect(read()).toHaveLength(MANY);
});

it('numbers that started over, or too many new ones, are listed', () => {
  born(5000);
  last = 40;
  expect(read()).toContain(5000);
  born(5001);
  last = 9000;
  expect(read()).toContain(5001);
});

it('whatever the count says, the truth is listed within ten seconds', () => {
  mkdirSync(join(proc.root, '5002')); // unknown to the count
  expect(read(2)).not.toContain(5002);
  expect(read(9)).toContain(5002);
});
