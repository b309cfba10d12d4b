import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SRC = fileURLToPath(new URL('../src', import.meta.url));

/** Which rooms a room may import from, besides itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  model: [],
  agents: ['model'],
  observe: ['model', 'agents'],
  judge: ['model', 'agents'],
  act: ['model', 'agents', 'judge', 'observe'],
  collect: ['model', 'agents', 'judge', 'observe'],
  live: ['model', 'agents', 'judge', 'observe', 'act', 'collect'],
  tui: ['model', 'agents', 'judge', 'live'],
  commands: ['model', 'agents', 'judge', 'observe', 'act', 'collect', 'live', 'tui'],
  'cli.ts': ['model', 'collect', 'live', 'commands', 'tui'],
};

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(file => /\.tsx?$/.test(file));
const roomOf = (file: string): string => file.split('/')[0]!;

interface Import {
  readonly from: string;
  readonly what: string;
}

const imports: readonly Import[] = files.flatMap(from =>
  [...readFileSync(join(SRC, from), 'utf8').matchAll(/(?:\bfrom |\bimport\(|^import )'([^'\n]+)'/gm)].map(
    ([, what]) => ({
      from,
      what: what!.startsWith('.') ? relative(SRC, join(SRC, dirname(from), what!)) : what!,
    }),
  ),
);

const described = ({ from, what }: Import): string => `${from} imports ${what}`;

test('every room imports only the rooms it may', () => {
  const wrong = imports.filter(({ from, what }) => {
    const [own, other] = [roomOf(from), roomOf(what)];
    const isRoom = MAY_IMPORT[other] !== undefined && what.includes('.ts');
    return isRoom && own !== other && !(MAY_IMPORT[own] ?? []).includes(other);
  });
  expect(imports.length).toBeGreaterThan(100);
  expect(wrong.map(described)).toEqual([]);
});

test('nothing in the pure rooms touches the world', () => {
  const pure = imports.filter(({ from }) => ['model', 'agents', 'judge'].includes(roomOf(from)));
  const wrong = pure.filter(({ what }) => !/\.tsx?$/.test(what));
  expect(wrong.map(described)).toEqual([]);
  const globals = files
    .filter(file => ['model', 'agents', 'judge'].includes(roomOf(file)))
    .filter(file =>
      /\b(?:Date\.now\(|process\.(?:env|pid|platform|kill)|new Date\(\))/.test(
        readFileSync(join(SRC, file), 'utf8'),
      ),
    );
  expect(globals).toEqual([]);
});

test('no file is called utils, helpers, manager, service or misc', () => {
  expect(files.filter(file => /(?:^|[/-])(?:utils?|helpers?|manager|service|misc)\b/.test(file))).toEqual([]);
});
