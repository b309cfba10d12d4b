import { execFileSync } from 'node:child_process';
import {
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { OrchestratorDatabases } from '../../../src/observe/files/orchestrator-database.ts';
import { scanFiles } from '../../../src/observe/files/watched-directories.ts';
import { DatabaseWriter, insertAgent, writeDatabase } from '../../support/orchestrator-database.ts';
import { Sandbox } from '../../support/sandbox.ts';

const TASK = 'TASK-20260127-100000-abcdef12';
let sandbox: Sandbox;
let database: string;
let databases: OrchestratorDatabases;
let changes = 0;
beforeEach(() => {
  sandbox = new Sandbox();
  // Copies that another run of these tests makes at the same time are not ours.
  mkdirSync(sandbox.path('tmp'));
  vi.stubEnv('TMPDIR', sandbox.path('tmp'));
  database = sandbox.path('work/.agent-workspace/registry/state.sqlite3');
  sandbox.write(
    `work/.agent-workspace/${TASK}/AGENT_REGISTRY.json`,
    JSON.stringify({ task_id: TASK, agents: [] }),
  );
  changes = 0;
  databases = new OrchestratorDatabases(() => {
    changes += 1;
  });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await sandbox.close();
});

const look = () => databases.complete(scanFiles([sandbox.path('work')], []), 5000);
const agents = async (): Promise<string[]> =>
  (await look()).readings
    .filter(reading => reading.format === 'registry')
    .flatMap(reading => reading.members.map(m => `${m.id} ${m.status}${m.terminal ? ' over' : ''}`))
    .sort();
const warnings = async (): Promise<readonly string[]> => (await look()).warnings;
/** Everything that could tell that somebody was there, but for the time of the last access. */
const traces = (): string[] =>
  readdirSync(dirname(database)).map(name => {
    const { ino, size, mtimeMs, ctimeMs } = lstatSync(`${dirname(database)}/${name}`);
    return `${name} ${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  });
const ourCopies = (): string[] => readdirSync(tmpdir()).filter(name => name.startsWith('reaptop-database-'));

describe("an orchestrator's database", () => {
  it('is read with its log while it is written to, and nobody notices', async () => {
    const writer = new DatabaseWriter(database);
    await writer.create();
    await writer.run(insertAgent('a-1', TASK, 'running'));
    const before = traces();
    expect(before.map(line => line.split(' ')[0]).sort()).toEqual([
      'state.sqlite3',
      'state.sqlite3-shm',
      'state.sqlite3-wal',
    ]);
    expect(await agents()).toEqual(['a-1 running']);
    expect(traces()).toEqual(before);
    expect(ourCopies()).toEqual([]);
    await writer.run(insertAgent('a-1', TASK, 'completed') + insertAgent('a-2', TASK, 'working'));
    expect(await agents()).toEqual(['a-1 completed over', 'a-2 working']);
    // Nothing was written since: it is not read again.
    expect([await agents(), changes]).toEqual([['a-1 completed over', 'a-2 working'], 2]);
    await writer.close();
    expect(await agents()).toEqual(['a-1 completed over', 'a-2 working']);
  });

  it('is read when its orchestrator is gone, and no file is made beside it', async () => {
    writeDatabase(database, insertAgent('a-1', TASK, 'failed'), insertAgent('b-1', 'TASK-other', 'running'));
    const before = traces();
    expect(before).toHaveLength(1);
    expect(await agents()).toEqual(['a-1 failed over']);
    expect(traces()).toEqual(before);
  });

  it('completes a registry and overrules it', async () => {
    sandbox.write(
      `work/.agent-workspace/${TASK}/AGENT_REGISTRY.json`,
      JSON.stringify({
        agents: [
          { id: 'a-1', status: 'running' },
          { id: 'a-0', status: 'running' },
        ],
      }),
    );
    writeDatabase(database, insertAgent('a-1', TASK, 'completed'));
    expect(await agents()).toEqual(['a-0 running', 'a-1 completed over']);
  });

  it('does not hold up whoever cannot wait', async () => {
    writeDatabase(database, insertAgent('a-1', TASK, 'running'));
    const scan = scanFiles([sandbox.path('work')], []);
    const told = await databases.complete(scan, 0);
    expect(told.readings.flatMap(reading => reading.members)).toEqual([]);
    expect(await agents()).toEqual(['a-1 running']);
    expect(changes).toBe(1);
  });

  it('keeps what was last read of it when it breaks', async () => {
    writeDatabase(database, insertAgent('a-1', TASK, 'running'));
    expect(await agents()).toEqual(['a-1 running']);
    writeFileSync(database, 'x'.repeat(10_000));
    expect(await agents()).toEqual(['a-1 running']);
    expect(await warnings()).toEqual([expect.stringContaining('is damaged')]);
  });

  it('is not looked for where there is none', async () => {
    const scan = scanFiles([sandbox.path('work')], []);
    expect(await databases.complete(scan, 5000)).toBe(scan);
  });
});

describe('a database that is made to harm', () => {
  const hostile: readonly [string, () => void, RegExp][] = [
    [
      'takes for ever',
      () => view('WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r) SELECT max(n)'),
      /within/,
    ],
    ['writes files', () => view(`SELECT writefile('${sandbox.path('pwned')}', 'x')`), /damaged|not known/],
    ['is too large', () => truncateSync(database, 40 * 1024 ** 2), /larger than 32 MiB/],
    ['is no database', () => writeFileSync(database, 'hello'), /damaged/],
    ['has no such table', () => execFileSync('sqlite3', [database, 'DROP TABLE agents']), /not known/],
    ['is being changed in the old way', () => writeFileSync(`${database}-journal`, 'x'), /being written to/],
  ];
  const view = (select: string): void => {
    const columns =
      'agent_id, task_id, status, tmux_session, started_at, completed_at, last_update, progress, claude_pid, cursor_pid, rowid'
        .split(', ')
        .map(name => `n AS ${name}`)
        .join(', ');
    const inner = select.includes('RECURSIVE') ? `${select} AS n FROM r` : `${select} AS n`;
    execFileSync('sqlite3', [
      database,
      `DROP TABLE agents; CREATE VIEW agents AS SELECT ${columns} FROM (${inner})`,
    ]);
  };

  it.each(hostile)('that %s is told about, once, and left', async (_, make, why) => {
    writeDatabase(database, insertAgent('a-1', TASK, 'running'));
    make();
    const started = performance.now();
    expect(await warnings()).toEqual([expect.stringMatching(why)]);
    expect(await agents()).toEqual([]);
    expect(performance.now() - started).toBeLessThan(4000);
    expect(readdirSync(sandbox.dir)).not.toContain('pwned');
  });

  it('is not read through a link out of the root, or from a FIFO', async () => {
    writeDatabase(database, insertAgent('a-1', TASK, 'running'));
    renameSync(database, sandbox.path('elsewhere.sqlite3'));
    symlinkSync(sandbox.path('elsewhere.sqlite3'), database);
    expect(await agents()).toEqual([]);
    execFileSync('rm', [database]);
    execFileSync('mkfifo', [database]);
    expect(await agents()).toEqual([]);
  });

  it.skipIf(process.getuid?.() !== 0)('is not read when it is not ours', async () => {
    writeDatabase(database, insertAgent('a-1', TASK, 'running'));
    expect(await agents()).toHaveLength(1);
    chownSync(database, 12_345, 12_345);
    expect(await agents()).toEqual([]);
  });

  it.skipIf(isBuiltin('node:sqlite'))('says what is missing where nothing can read it', async () => {
    writeDatabase(database, insertAgent('a-1', TASK, 'running'));
    const { PATH } = process.env;
    process.env.PATH = sandbox.path('bin');
    try {
      expect(await warnings()).toEqual([expect.stringMatching(/node:sqlite .* sqlite3 .* neither is here/)]);
    } finally {
      process.env.PATH = PATH;
    }
  });
});
