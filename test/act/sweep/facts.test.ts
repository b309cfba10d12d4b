import {
  appendFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { identityOfInode, inDirectory } from '../../../src/act/held-directory.ts';
import { gatherSweepFacts, seenAs, whyUnsafe } from '../../../src/act/sweep/sweep-facts.ts';
import { type JudgedFiles, judgeFiles } from '../../../src/judge/heartbeats/judge-files.ts';
import { DEFAULT_CONFIG } from '../../../src/model/config-defaults.ts';
import { scanFiles } from '../../../src/observe/files/watched-directories.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { type Files, TASK, writeAgent, writeRegistry } from './orchestrator.ts';

let sandbox: Sandbox;
let files: Files;
let registry: string;
beforeEach(() => {
  sandbox = new Sandbox();
  files = writeAgent(sandbox, 'a-1', { finished: true });
  registry = writeRegistry(sandbox, { 'a-1': 'completed' });
});
afterEach(() => sandbox.close());

const now = Date.UTC(2026, 0, 10);
const judge = (): JudgedFiles => {
  const { readings } = scanFiles([sandbox.path('work')], []);
  return judgeFiles({ readings, processes: [], tmux: [], sessions: [], config: DEFAULT_CONFIG, now });
};
const gather = (watchMs = 0) => gatherSweepFacts(judge(), { watchMs });

test('every file that is swept or believed is looked at: its time, its size, which one it is and where', async () => {
  const { seen, unsafe, growing } = await gather();
  expect([...seen.keys()].sort()).toEqual([...Object.values(files), registry].sort());
  const { mtimeMs, size, ...stat } = statSync(files.stream);
  expect(seen.get(files.stream)).toEqual({
    mtimeMs,
    size,
    file: identityOfInode(stat),
    directory: identityOfInode(statSync(sandbox.path(TASK, 'logs'))),
  });
  expect([unsafe.size, growing.size]).toEqual([0, 0]);
});

test('what is gone, became a link or lies behind one may not be touched, and it is said why', async () => {
  const judged = judge();
  rmSync(files.prompt);
  rmSync(files.progress);
  symlinkSync(files.stream, files.progress);
  renameSync(sandbox.path(TASK, 'findings'), sandbox.path('aside'));
  symlinkSync(sandbox.path('aside'), sandbox.path(TASK, 'findings'));
  const { seen, unsafe } = await gatherSweepFacts(judged, { watchMs: 0 });
  expect([...unsafe]).toEqual(
    expect.arrayContaining([
      [files.prompt, 'it is gone'],
      [files.progress, 'it is a symbolic link or not a regular file'],
      [files.findings, expect.stringContaining('may lead out of the workspace')],
    ]),
  );
  expect([...seen.keys()].sort()).toEqual([files.deploy, files.stream, registry].sort());
});

test('what lies in nobody’s workspace, and is only read, is not looked at again', async () => {
  const judged = judge();
  const [first] = judged.joined;
  const path = sandbox.write('work/elsewhere/session.jsonl', '');
  const reading = { ...first!.reading, format: 'transcript', path } as const;
  const facts = await gatherSweepFacts({ ...judged, joined: [{ ...first!, reading }] }, { watchMs: 0 });
  expect([...facts.seen, ...facts.unsafe, ...facts.directories]).toEqual([]);
});

test('a directory that cannot be inspected is not touched either', async () => {
  const judged = judge();
  const [first] = judged.joined;
  const reading = { ...first!.reading, root: '/none', path: '/none/x' };
  const facts = await gatherSweepFacts({ ...judged, joined: [{ ...first!, reading }] }, { watchMs: 0 });
  expect([...facts.unsafe]).toEqual([['/none/x', 'it cannot be inspected']]);
  expect([...facts.directories]).toEqual([]);
});

test('files of another user are not touched', () => {
  const stat = statSync(files.prompt);
  expect(whyUnsafe(stat)).toBeNull();
  stat.uid = 4242;
  expect(whyUnsafe(stat)).toBe('it belongs to another user');
});

test('what changes in any way while it is watched grows', async () => {
  const watching = gather(1);
  appendFileSync(files.progress, '{}\n');
  rmSync(files.deploy);
  const { size } = statSync(files.prompt);
  writeFileSync(files.prompt, 'x'.repeat(size));
  // Of what is not swept nobody asks whether it grows.
  appendFileSync(registry, ' ');
  expect([...(await watching).growing].sort()).toEqual([files.deploy, files.progress, files.prompt].sort());
});

test('what becomes unreachable while it is watched grows, too', async () => {
  const watching = gather(1);
  renameSync(sandbox.path(TASK, 'logs'), sandbox.path('aside'));
  writeFileSync(sandbox.path(TASK, 'logs'), '');
  expect([...(await watching).growing].sort()).toEqual([files.deploy, files.stream].sort());
});

test('only for files that are swept, or for sessions, does it wait', async () => {
  const nothing = { ...judge(), joined: [] };
  const agent = nothing.orchestrated[0]!;
  const inPanes = { ...agent, panes: [{}] as unknown as typeof agent.panes };
  const took = async (...given: Parameters<typeof gatherSweepFacts>): Promise<number> => {
    const from = performance.now();
    await gatherSweepFacts(...given);
    return performance.now() - from;
  };
  const long = { watchMs: 30_000 };
  expect(await took({ ...nothing, orchestrated: [] }, long)).toBeLessThan(15_000);
  expect(await took({ ...nothing, orchestrated: [{ ...agent, panes: [] }] }, long)).toBeLessThan(15_000);
  // A timer may come a millisecond early.
  expect(await took({ ...nothing, orchestrated: [{ ...agent, panes: [] }, inPanes] })).toBeGreaterThan(990);
  expect(await took({ ...judge(), orchestrated: [] }, { watchMs: 50 })).toBeGreaterThan(48);
});

test('an archive tells which of ours lie in it, and since when', async () => {
  const inArchive = (name: string): string => sandbox.write(`${TASK}/archive/${name}`, 'old');
  const stamped = inArchive('a-1_stream.jsonl.archived-20260101T000000Z');
  const bare = inArchive('a-2_stream.jsonl');
  inArchive('notes.md');
  symlinkSync(stamped, sandbox.path(TASK, 'archive/a-3_stream.jsonl'));
  mkdirSync(sandbox.path(TASK, 'archive/a-4_stream.jsonl'));
  const { archives, directories } = await gather();
  const root = judge().joined[0]!.reading.root;
  const seenOf = (path: string) =>
    inDirectory(root, sandbox.path(TASK, 'archive'), held => seenAs(statSync(path), held));
  expect([...archives].sort((a, b) => a.path.localeCompare(b.path))).toEqual([
    { path: stamped, root, archivedAt: Date.UTC(2026, 0, 1), seen: seenOf(stamped) },
    { path: bare, root, archivedAt: statSync(bare).ctimeMs, seen: seenOf(bare) },
  ]);
  expect(directories.get(sandbox.path(TASK))).toBe(identityOfInode(statSync(sandbox.path(TASK))));
});

test('an archive that does not lie where it should is not read, and without one there is none', async () => {
  expect((await gather()).archives).toEqual([]);
  expect(existsSync(sandbox.path(TASK, 'archive'))).toBe(false);
  sandbox.write('outside/a-1_stream.jsonl', 'old');
  symlinkSync(sandbox.path('outside'), sandbox.path(TASK, 'archive'));
  const { archives, directories } = await gather();
  expect(archives).toEqual([]);
  expect(directories.size).toBeGreaterThan(0);
});
