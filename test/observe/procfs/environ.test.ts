import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readEnv } from '../../../src/observe/procfs/environ.ts';
import { Sandbox } from '../../support/sandbox.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'reaptop-test-environ-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const write = (pid: number, ...entries: string[]): void => {
  mkdirSync(join(root, String(pid)), { recursive: true });
  writeFileSync(join(root, String(pid), 'environ'), entries.map(entry => `${entry}\0`).join(''));
  writeFileSync(join(root, String(pid), 'stat'), `${pid} (x) S ${'1 '.repeat(48)}\n`);
};

const LONG = 'PADDING='.padEnd(70_000, 'x');

describe('the environment of a process', () => {
  it('is the named variables alone', () => {
    write(1, 'PATH=/bin', 'HOME=/home/me', 'SECRET=x', 'CLAUDE_PID=7', 'XCLAUDE_JOB_DIR=/no', 'TMUX=');
    expect(readEnv(root, 1)).toEqual({ HOME: '/home/me', CLAUDE_PID: '7', TMUX: '' });
  });

  it('is its own, whatever its neighbours have: as long, longer, shorter, the same, none', () => {
    const blocks: readonly (readonly string[])[] = [
      ['HOME=/a', 'CLAUDE_PID=7'],
      ['HOME=/b', 'CLAUDE_PID=7'],
      ['HOME=/b', 'CLAUDE_PID=8'],
      ['HOME=/b', 'CLAUDE_PID=8'],
      ['HOME=/b', 'CLAUDE_PID=8', 'TMUX=t'],
      ['HOME=/b'],
      [],
      ['HOME=/b'],
      [LONG, 'HOME=/long'],
      ['HOME=/b'],
    ];
    for (const [index, entries] of blocks.entries()) write(index + 1, ...entries);
    const told = blocks.map((_, index) => readEnv(root, index + 1));
    expect(told).toEqual(
      blocks.map(entries =>
        Object.fromEntries(entries.filter(entry => entry !== LONG).map(entry => entry.split('='))),
      ),
    );
  });

  it('is read again where it changed under the same number', () => {
    write(1, 'CODEX_SESSION_ID=a');
    expect(readEnv(root, 1)).toEqual({ CODEX_SESSION_ID: 'a' });
    write(1, 'CODEX_SESSION_ID=b');
    expect(readEnv(root, 1)).toEqual({ CODEX_SESSION_ID: 'b' });
  });

  it('is unknown, not empty, in the middle of an exec', () => {
    const sandbox = new Sandbox();
    try {
      // Executes itself for as long as it runs: about every tenth read meets it in between.
      const { pid } = sandbox.start(['sh', sandbox.write('again.sh', 'exec sh "$0"\n')], {
        env: { CODEX_SESSION_ID: 'always' },
      });
      const read = Array.from({ length: 20_000 }, () => readEnv('/proc', pid));
      expect(read.filter(env => env !== null && env.CODEX_SESSION_ID !== 'always')).toEqual([]);
      expect(read).toContain(null);
      expect(read).toContainEqual(expect.objectContaining({ CODEX_SESSION_ID: 'always' }));
    } finally {
      sandbox.close();
    }
  });

  it('is null where it cannot be read', () => expect(readEnv(root, 99)).toBeNull());
});
