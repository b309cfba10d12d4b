import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Sandbox } from '../support/sandbox.ts';

/** That rooms are pure, imports go in no circle and functions fit a screen are rules of `.biome.json`. */
const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter(file => /\.tsx?$/.test(file))
  .map(file => ({ file, text: readFileSync(join(root, 'src', file), 'utf8') }));

const CORE = ['model', 'agents', 'judge', 'observe', 'act', 'remember'];
/** Which rooms a room may import from, besides itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  model: [],
  agents: ['model'],
  judge: ['model', 'agents'],
  observe: ['model', 'agents'],
  act: ['model', 'agents', 'judge', 'observe'],
  remember: ['model', 'agents', 'judge', 'observe'],
  engine: CORE,
  'output.ts': ['model'],
  'hooks/decide': ['model', 'agents', 'judge'],
  hooks: [...CORE, 'engine', 'output.ts', 'hooks/decide'],
  guard: [...CORE, 'engine'],
  tui: ['model', 'agents', 'judge', 'engine'],
  manual: [],
  commands: [...CORE, 'engine', 'hooks', 'guard', 'tui', 'manual', 'output.ts'],
  'cli.ts': ['model', 'engine', 'commands', 'output.ts'],
  'quick.ts': ['commands', 'hooks'],
  'once.ts': ['commands', 'engine', 'output.ts'],
  build: [],
};

const roomOf = (file: string): string =>
  file.startsWith('hooks/decide/') ? 'hooks/decide' : file.split('/')[0]!;

/** Static, dynamic and of types: `from '…'`, `import('…')`, `import '…'`. */
const importsOf = ({ file, text }: { file: string; text: string }): string[] =>
  [...text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, path = '']) => join(file, '..', path));

const trespasses = (source: { file: string; text: string }): string[] =>
  importsOf(source).filter(what => {
    const [own, other] = [roomOf(source.file), roomOf(what)];
    return own !== other && !what.startsWith('..') && !MAY_IMPORT[own]?.includes(other);
  });

test('every room imports only the rooms it may', () => {
  expect(sources.flatMap(importsOf).length).toBeGreaterThan(1000);
  expect(sources.flatMap(source => trespasses(source).map(what => `${source.file} -> ${what}`))).toEqual([]);
});

test.each([
  ['tui/a.tsx', "import type { X } from '../act/b.ts';"],
  ['tui/tree/a.ts', "export { x } from '../../observe/b.ts';"],
  ['observe/files/a.ts', "const x = await import('../../judge/b.ts');"],
  ['judge/a.ts', "type X = typeof import('../observe/b.ts');"],
  ['model/a.ts', "import '../agents/b.ts';"],
  ['engine/a.ts', "import { x } from '../hooks/b.ts';"],
  ['guard/a.ts', "import { x } from '../commands/b.ts';"],
  ['hooks/decide/a.ts', "import { x } from '../entry.ts';"],
  ['commands/a.ts', "import { x } from '../cli.ts';"],
  ['attic/a.ts', "import { x } from '../model/b.ts';"],
])('%s may not %s', (file, text) => expect(trespasses({ file, text })).toHaveLength(1));

/** Outside act/: our own child that takes too long, and Ctrl-Z, which stops our own process group. */
const MAY_SIGNAL = ['observe/run-command.ts', 'tui/main.tsx'];
const SIGNAL = new RegExp(
  [
    String.raw`(?:\.|\[\s*['"])_?kill\b`, // process.kill, child?.kill, process['kill']
    String.raw`\{[^}]*\bkill\b[^}]*\}\s*(?:=|from)`, // { kill } = process, import { kill } from
    String.raw`\(\s*['"](?:[\w/]*/)?(?:p?kill|killall)['"]`, // spawn('kill', …)
    `['"](?:kill-(?:session|server|pane|window)|tree-kill)['"]`,
  ].join('|'),
);

test('signals leave from act/ only', () => {
  const signalling = sources.filter(({ text }) => SIGNAL.test(text)).map(({ file }) => file);
  expect(signalling.filter(file => !file.startsWith('act/')).sort()).toEqual(MAY_SIGNAL);
  expect(signalling.length).toBeGreaterThan(MAY_SIGNAL.length);
});

test.each([
  'process.kill(4, 9)',
  "process['kill'](4)",
  "import { exit, kill } from 'node:process'",
  'const { kill: end } = child',
  'this.child?.kill("SIGTERM")',
  "execFileSync('/usr/bin/pkill', ['node'])",
  "tmux(['kill-server'])",
  "await import('tree-kill')",
])('sees a signal: %s', text => expect(text).toMatch(SIGNAL));

describe('the linter rejects', () => {
  const PLANTED: readonly (readonly [rule: string, file: string, text: string])[] = [
    ['noImportCycles', 'engine/a.ts', "import type { b } from './b.ts'; export type A = typeof b;"],
    ['noImportCycles', 'engine/b.ts', "import type { A } from './a.ts'; export const b = {} as A;"],
    ['noRestrictedImports', 'judge/files.ts', "export { readFileSync } from 'node:fs';"],
    ['noRestrictedImports', 'agents/react.ts', "export { useState } from 'react';"],
    ['noRestrictedGlobals', 'judge/pid.ts', 'export const me = process.pid;'],
    ['noRestrictedGlobals', 'hooks/decide/timer.ts', 'setTimeout(() => {}, 1);'],
    ['noRestrictedGlobals', 'model/clock.ts', 'export const now = performance.now();'],
    ['plugin', 'judge/now.ts', 'export const now = Date.now();'],
    ['plugin', 'model/now.ts', 'export const now = new Date();'],
    ['plugin', 'agents/chance.ts', 'export const { random } = [Math.random];'],
    ['plugin', 'hooks/decide/here.ts', 'export const here = import.meta.url;'],
    ['noExcessiveLinesPerFunction', 'guard/long.ts', `export const f = () => {\n${'  f();\n'.repeat(61)}};`],
    ['', 'judge/fine.ts', 'export const of = (process: Date) => [process, new Date(5), Math.max(1, 2)];'],
    ['', 'tui/fine.ts', "import { b } from '../engine/c.ts'; export const f = () => b(Date.now());"],
  ];
  const sandbox = new Sandbox();
  const found = new Map<string, string[]>();
  beforeAll(() => {
    for (const path of ['.biome.json', 'test/architecture/pure.grit'])
      cpSync(join(root, path), sandbox.path('work', path));
    for (const [, file, text] of PLANTED) sandbox.write(`work/src/${file}`, text);
    const args = ['lint', '--vcs-enabled=false', '--max-diagnostics=none', '--reporter=github'];
    const { stdout } = spawnSync(join(root, 'node_modules/.bin/biome'), args, {
      cwd: sandbox.path('work'),
      encoding: 'utf8',
    });
    for (const [, rule = '', file = ''] of stdout.matchAll(/title=(\S+?),file=\S*?\/src\/(\S+?),/g))
      found.set(file, [...(found.get(file) ?? []), rule.split('/').at(-1)!]);
  });
  afterAll(() => sandbox.close());

  test.each(PLANTED)('%s in %s', (rule, file) =>
    expect(found.get(file) ?? []).toEqual(rule === '' ? [] : [rule]),
  );
});
