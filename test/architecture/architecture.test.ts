import { describe, expect, test } from 'vitest';
import { impurities, MAY_SIGNAL, PURE_ROOMS, signals } from './bans.ts';
import { knots } from './cycles.ts';
import { tooLong } from './sizes.ts';
import { readSources, roomOf, type Source, sourcesFrom } from './sources.ts';

/** Which rooms a room may import from, besides itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  model: [],
  agents: ['model'],
  words: ['model'],
  observe: ['model', 'agents'],
  judge: ['model', 'agents', 'words'],
  act: ['model', 'agents', 'words', 'judge', 'observe'],
  collect: ['model', 'agents', 'words', 'judge', 'observe'],
  remember: ['model', 'agents', 'words', 'judge', 'observe'],
  live: ['model', 'agents', 'words', 'judge', 'observe', 'act', 'collect', 'remember'],
  guard: ['model', 'agents', 'words', 'judge', 'observe', 'act', 'collect', 'remember'],
  tui: ['model', 'agents', 'words', 'judge', 'live'],
  commands: [
    'model',
    'agents',
    'words',
    'judge',
    'observe',
    'act',
    'collect',
    'remember',
    'live',
    'guard',
    'tui',
  ],
  'cli.ts': ['model', 'collect', 'live', 'commands', 'tui'],
  build: [],
};

const sources = readSources();

const trespasses = (house: readonly Source[]): string[] =>
  house.flatMap(({ file, imports }) =>
    imports
      .filter(what => {
        const [own, other] = [roomOf(file), roomOf(what)];
        const isOurs = /\.(?:tsx?|mjs|json)$/.test(what) && !what.startsWith('..');
        return isOurs && own !== other && !(MAY_IMPORT[own] ?? []).includes(other);
      })
      .map(what => `${file} imports ${what}`),
  );

const said = (house: readonly Source[], of: (source: Source) => readonly string[]): string[] =>
  house.flatMap(source => of(source).map(what => `${source.file} ${what}`));

const pure = sources.filter(({ file }) => PURE_ROOMS.includes(roomOf(file)));

describe('the house', () => {
  test('is read whole', () => {
    expect(sources.length).toBeGreaterThan(200);
    expect(sources.flatMap(({ imports }) => imports).length).toBeGreaterThan(1000);
    expect(sources.map(({ file }) => roomOf(file)).filter(room => MAY_IMPORT[room] === undefined)).toEqual(
      [],
    );
  });

  test('every room imports only the rooms it may', () => expect(trespasses(sources)).toEqual([]));

  test('no import goes in a circle, types included', () => expect(knots(sources)).toEqual([]));

  test('model, agents, words and judge take nothing from the world', () =>
    expect(said(pure, impurities)).toEqual([]));

  test('signals leave from act/ only', () => expect(said(sources, source => signals(source))).toEqual([]));

  test('every file excused for a signal sends one', () => {
    const needed = sources.filter(source => signals(source, {}).length > 0).map(({ file }) => file);
    expect(needed.sort()).toEqual(Object.keys(MAY_SIGNAL).sort());
  });

  test('no function is longer than a screen, no file longer than a sitting', () =>
    expect(said(sources, tooLong)).toEqual([]));

  test('comments cite what is in the repository', () =>
    expect(
      sources
        .filter(({ text }) => /\bsection \d|\bof the contract\b|\b(?:spec|design|traps)\.md\b/i.test(text))
        .map(({ file }) => file),
    ).toEqual([]));

  test('no file is called utils, helpers, manager, service or misc', () => {
    const vague = /(?:^|[/-])(?:utils?|helpers?|manager|service|misc)\b/;
    expect(sources.map(({ file }) => file).filter(file => vague.test(file))).toEqual([]);
  });
});

describe('planted', () => {
  const planted = (file: string, text: string): Source => sourcesFrom({ [file]: text })[0]!;

  test('a circle of three, one of its imports a type', () => {
    const circle = sourcesFrom({
      'judge/a.ts': "import { b } from './b.ts'; export const a = b;",
      'judge/b.ts': "export * from './c.ts'; export const b = 1;",
      'judge/c.ts': "import type { a } from './a.ts'; export type C = typeof a;",
      'judge/d.ts': "import { a } from './a.ts'; export const d = a;",
    });
    expect(knots(circle)).toEqual([['judge/a.ts', 'judge/b.ts', 'judge/c.ts']]);
  });

  test.each([
    "import('./b.ts')",
    "type X = import('./b.ts').B",
    "import './b.ts'",
    "export { b } from './b.ts'",
  ])('a circle closed by %s', text => {
    const circle = sourcesFrom({ 'live/a.ts': text, 'live/b.ts': "import { a } from './a.ts'; a();" });
    expect(knots(circle)).toEqual([['live/a.ts', 'live/b.ts']]);
  });

  test('a function of 61 lines', () => {
    const lines = (count: number): string => '  f();\n'.repeat(count);
    const long = `const f = () => {\n${lines(59)}};\n`;
    expect(tooLong(planted('judge/a.ts', long))).toEqual(['line 1: f has 61 lines']);
    expect(
      tooLong(planted('judge/a.ts', `const f = () => {\n${lines(58)}};\n${'f();\n'.repeat(140)}`)),
    ).toEqual([]);
  });

  test('a file that imports itself', () =>
    expect(knots([planted('live/a.ts', "import './a.ts'")])).toEqual([['live/a.ts']]));

  test.each([
    ['tui/a.ts', '../act/b.ts'],
    ['tui/a.tsx', '../observe/b.ts'],
    ['observe/files/a.ts', '../../judge/b.ts'],
    ['judge/a.ts', '../observe/b.ts'],
    ['model/a.ts', '../agents/b.ts'],
    ['collect/a.ts', '../act/b.ts'],
    ['live/a.ts', '../commands/b.ts'],
  ])('a type that %s takes from %s', (file, what) => {
    expect(trespasses([planted(file, `import type { X } from '${what}'; export type Y = X;`)])).toHaveLength(
      1,
    );
  });

  test.each([
    'process.kill(4, 9)',
    "process['kill'](4)",
    'process?.kill(4)',
    'process[name](4)',
    "import { kill } from 'node:process'; kill(4)",
    "import { kill as end } from 'process'; end(4)",
    "import process from 'node:process'; process.exit()",
    "import * as p from 'node:process'; p.exit()",
    'const { kill } = process; kill(4)',
    'const { kill: end } = child; end()',
    'child.kill()',
    'this.child?.kill("SIGTERM")',
    "spawn('kill', ['-9', '4'])",
    "execFileSync('/usr/bin/pkill', ['node'])",
    "tmux(['kill-server'])",
    "import treeKill from 'tree-kill'; treeKill(4)",
    "process.getBuiltinModule('node:process').exit()",
    "process.getBuiltinModule('node:' + name)",
    "globalThis['pro' + 'cess'].exit()",
    "Reflect.get(process, 'ki' + 'll')",
    "await import('node:' + name)",
    "eval('x')",
  ])('a signal outside act/: %s', text => {
    const file = planted('commands/a.ts', text);
    expect(signals(file)).not.toEqual([]);
  });

  test('a signal in act/ is in its place', () =>
    expect(signals(planted('act/a.ts', "import { kill } from 'node:process'; kill(4, 0)"))).toEqual([]));

  test.each([
    'export const now = Date.now()',
    'export const now = new Date()',
    'export const now = Date()',
    'const D = Date; export const now = new D()',
    'export const now = performance.now()',
    'export const dice = Math.random()',
    "export const dice = Math['random']()",
    'const { random } = Math; export const dice = random()',
    'export const dice = crypto.randomUUID()',
    'export const at = process.hrtime()',
    'export const me = process.pid',
    "export const fs = process.getBuiltinModule('node:fs')",
    'export const now = globalThis.Date.now()',
    'export const now = new Intl.DateTimeFormat().format()',
    'setTimeout(() => {}, 1)',
    'console.log(1)',
    "fetch('http://localhost')",
    "import { readFileSync } from 'node:fs'; readFileSync('x')",
    "import React from 'react'; React",
    'export const here = import.meta.url',
    "(() => {}).constructor('return process')()",
    'const f = (process) => process; export const me = [f, process.pid]',
  ])('the world in judge/: %s', text => {
    expect(impurities(planted('judge/a.ts', text))).not.toEqual([]);
  });

  test.each([
    'export const day = new Date(5).toISOString(); export const at = Date.parse("x")',
    'export const of = (process: { kill: () => void }) => process',
    'export const of = ({ process }) => process.facts; for (const process of []) of(process);',
    'export const most = Math.max(1, Number("2")); export type Now = typeof Date.now;',
    'export interface Kill { readonly process: string } export const a = { process: 1, Date: 2 }',
  ])('what only looks like the world: %s', text => {
    expect(impurities(planted('judge/a.ts', text))).toEqual([]);
  });
});
