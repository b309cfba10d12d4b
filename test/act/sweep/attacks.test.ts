import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HeldDirectory, identityOfInode, othersCanReplace } from '../../../src/act/held-directory.ts';
import { type FileRecord, moveExactly, runFileAct } from '../../../src/act/sweep/file-acts.ts';
import { lacking } from '../../support/lacking.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { filesPlan, runFiles } from './files-plan.ts';
import { TASK, writeAgent } from './orchestrator.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const plan = () => filesPlan(sandbox);
const run = runFiles;
const outcomes = (records: readonly FileRecord[]): string[] => [...new Set(records.map(r => r.outcome))];

describe('a sweep whose files are not what they were when it was planned', () => {
  it('takes no directory that took the place of the planned one', async () => {
    writeAgent(sandbox, 'a-1', { finished: true });
    const planned = await plan();
    const logs = sandbox.path(TASK, 'logs');
    execFileSync('cp', ['-a', logs, sandbox.path('twin')]);
    renameSync(logs, sandbox.path('real'));
    renameSync(sandbox.path('twin'), logs);
    const records = run(planned).filter(record => record.path.startsWith(logs));
    expect(records.map(record => record.why)).toEqual(Array(2).fill('its directory was replaced'));
    expect(readdirSync(logs)).toHaveLength(2);
  });

  it('takes no file that took the place of the planned one, were it a twin', async () => {
    const { prompt, stream } = writeAgent(sandbox, 'a-1', { finished: true });
    const planned = await plan();
    for (const path of [prompt, stream]) {
      execFileSync('cp', ['-a', path, `${path}.twin`]);
      renameSync(`${path}.twin`, path);
    }
    const records = run(planned).filter(record => [prompt, stream].includes(record.path));
    expect(records.map(record => record.why)).toEqual(Array(2).fill('it changed after the plan was made'));
    expect([existsSync(prompt), existsSync(stream)]).toEqual([true, true]);
  });

  it('takes no file that was written to, or that became a link', async () => {
    const files = writeAgent(sandbox, 'a-1', { finished: true });
    const planned = await plan();
    const { mtime, size } = statSync(files.prompt);
    writeFileSync(files.prompt, 'x'.repeat(size));
    rmSync(files.stream);
    symlinkSync(files.progress, files.stream);
    rmSync(files.deploy);
    const why = new Map(run(planned).map(record => [record.path, record.why]));
    expect(why.get(files.prompt)).toContain('changed after the plan');
    expect(why.get(files.stream)).toContain('symbolic link');
    expect(why.get(files.deploy)).toContain('already gone');
    utimesSync(files.prompt, mtime, mtime);
    expect(readFileSync(files.prompt, 'utf8')).toBe('x'.repeat(size));
  });

  it('does not archive into a directory that took the place of the task', async () => {
    const { stream } = writeAgent(sandbox, 'a-1', { finished: true });
    const act = (await plan()).files.find(({ path }) => path === stream);
    expect(runFileAct({ ...act!, toWithin: '1:1' })).toMatchObject({ outcome: 'skipped' });
    expect(existsSync(stream)).toBe(true);
  });
});

describe('what lies in a workspace', () => {
  it('is not touched below a directory that others can write, nor is what it says believed', async () => {
    const files = writeAgent(sandbox, 'a-1', { finished: true });
    for (const writable of [sandbox.path(TASK), sandbox.path('work'), sandbox.path(TASK, 'logs')]) {
      chmodSync(writable, 0o777);
      const planned = await plan();
      expect(planned.files).toEqual([]);
      expect(planned.refused[0]?.why).toContain('can be written by other users');
      chmodSync(writable, 0o755);
    }
    expect((await plan()).files).toHaveLength(5);
    expect(Object.values(files).every(existsSync)).toBe(true);
  });

  it('is touched below a directory of a group that has nobody else in it', async () => {
    if (othersCanReplace({ mode: 0o775, gid: process.getgid!() }))
      lacking('Somebody else is in the group of this user, or may be.');
    writeAgent(sandbox, 'a-1', { finished: true });
    chmodSync(sandbox.path(TASK), 0o775);
    expect((await plan()).files).toHaveLength(5);
  });

  it.runIf(process.getuid?.() === 0)('is not touched when it belongs to another user', async () => {
    const files = writeAgent(sandbox, 'a-1', { finished: true });
    const planned = await plan();
    chownSync(files.prompt, 12_345, 12_345);
    const why = new Map(run(planned).map(record => [record.path, record.why]));
    expect(why.get(files.prompt)).toBe('it belongs to another user');
    writeAgent(sandbox, 'a-1', { finished: true });
    chownSync(files.prompt, 12_345, 12_345);
    expect((await plan()).files.map(act => act.path)).not.toContain(files.prompt);
    chownSync(files.stream, 12_345, 12_345);
    expect((await plan()).files).toEqual([]);
    chownSync(files.stream, 0, 0);
    expect((await plan()).files).not.toEqual([]);
    chownSync(sandbox.path(TASK), 12_345, 0);
    expect((await plan()).files).toEqual([]);
    // Somebody else is in this group, as far as anybody knows.
    chownSync(sandbox.path(TASK), 0, 54_321);
    chmodSync(sandbox.path(TASK), 0o775);
    expect((await plan()).files).toEqual([]);
  });

  it('may be a FIFO or a second name of a file: neither hangs nor harms', async () => {
    const files = writeAgent(sandbox, 'a-1', { finished: true });
    rmSync(files.findings);
    execFileSync('mkfifo', [files.findings]);
    const treasure = sandbox.write('outside/treasure.txt', 'gold');
    rmSync(files.prompt);
    linkSync(treasure, files.prompt);
    expect(outcomes(run(await plan()))).toEqual(['done']);
    expect([existsSync(files.findings), existsSync(files.prompt)]).toEqual([true, false]);
    expect(readFileSync(treasure, 'utf8')).toBe('gold');
  });

  it('may have any name', async () => {
    const names = ['a b', "q'uote", '-rf', '*', '…', '$(touch x)', 'archived-20200101T000000Z'];
    for (const name of names) writeAgent(sandbox, name, { finished: true });
    const records = run(await plan());
    expect(outcomes(records)).toEqual(['done']);
    expect(records).toHaveLength(5 * names.length);
    expect(readdirSync(sandbox.path(TASK, 'logs'))).toEqual([]);
  });

  it.runIf(existsSync('/dev/shm'))('stays where it is when its archive is on another disk', async () => {
    const elsewhere = mkdtempSync('/dev/shm/reaptop-test-');
    try {
      const { stream } = writeAgent(sandbox, 'a-1', { finished: true });
      const from = HeldDirectory.open(sandbox.dir, sandbox.path(TASK, 'logs'));
      const to = HeldDirectory.open(elsewhere, elsewhere);
      const move = () => moveExactly(from, basename(stream), identityOfInode(statSync(stream)), to, 'x');
      expect(move).toThrow(/EXDEV/);
      from.close();
      to.close();
      expect([existsSync(stream), readdirSync(elsewhere)]).toEqual([true, []]);
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  });

  it('is never reached through a name with a slash, nor above the root', () => {
    mkdirSync(sandbox.path('work/inner'), { recursive: true });
    expect(() => HeldDirectory.open(sandbox.path('work/inner'), sandbox.path('work'))).toThrow('not below');
    const held = HeldDirectory.open(sandbox.path('work'), sandbox.path('work'));
    for (const name of ['..', 'a/b', '', join('inner', 'x')])
      expect(() => held.at(name)).toThrow('is not a file name');
    held.close();
  });
});
