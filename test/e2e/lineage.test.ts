import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeSessionLineage } from '../../src/remember/lineage-files.ts';
import { reaptop, snapshotOf } from '../support/cli.ts';
import { orphan } from '../support/orphan.ts';
import { isRunning } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

it('what an ended session wrote down proves a leak for --once and clean, of that very process alone', async () => {
  const program = sandbox.sleeper('crunch');
  const left = await orphan(sandbox, `${program} 600`);
  const wanted = await orphan(sandbox, `${program} 601`, {}, 'wanted');
  const line = (pid: number, start: string) => ({
    pid,
    start,
    agent: { pid: 4_000_000, start: '1' },
    session: 'ended',
    family: 'claude',
    parent: null,
    boot: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
    seen: Number.parseFloat(readFileSync('/proc/uptime', 'utf8')),
    gone: null,
  });
  const state = join(sandbox.home, '.local/state/reaptop');
  // The second line is of somebody else who had the pid before.
  writeSessionLineage(state, 'ended', [line(left.pid, left.start), line(wanted.pid, '7')]);
  const { processes, warnings } = await snapshotOf(sandbox);
  expect(processes.filter(p => p.pid === left.pid || p.pid === wanted.pid)).toMatchObject([
    { pid: left.pid, verdict: 'leak', owner: { pid: 4_000_000, sessionId: 'ended', how: 'lineage' } },
  ]);
  expect(warnings.filter(text => text.includes('lineage'))).toEqual([]);
  await reaptop(sandbox, ['clean', '--force', '--age-threshold', '0']);
  expect([isRunning(left.pid, left.start), isRunning(wanted.pid, wanted.start)]).toEqual([false, true]);
});
