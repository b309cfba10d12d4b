import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { userSchema } from '../src/engine/config-schema.ts';
import { DEFAULT_CONFIG } from '../src/model/config-defaults.ts';
import { keyName } from '../src/tui/help/key-names.ts';
import { BINDINGS } from '../src/tui/keys/bindings.ts';
import { snapshotSchema } from './schema/snapshot-schema.ts';
import { keyTable } from './support/key-table.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(`${root}/README.md`, 'utf8');
const page = (topic: string): string => readFileSync(`${root}/src/manual/${topic}.md`, 'utf8');

it('the manual shows the keys that the program has', () => {
  const [, shown] = /<!-- keys:begin[^>]*-->\n([\s\S]*?)<!-- keys:end -->/.exec(page('keys')) ?? [];
  expect(shown?.trim()).toBe(keyTable().trim());
});

it('is short enough to be finished', () => {
  expect(readme.split(/\s+/).filter(Boolean).length).toBeLessThanOrEqual(1900);
});

it('names in its short table only keys of the main screen', () => {
  const [, table] = /\| keys \| \|\n([\s\S]*?)\n\n/.exec(readme) ?? [];
  const named = [...(table ?? '').matchAll(/`([^`]+)`/g)].map(([, key]) => key!);
  const keys = new Set(
    BINDINGS.filter(b => b.context === 'main').flatMap(b => b.keys.map(key => keyName(key))),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter(key => !keys.has(key))).toEqual([]);
});

it('shows only pictures that are there, each with words for those who cannot see it', () => {
  const pictures = [...readme.matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g)];
  expect(pictures.length).toBeGreaterThanOrEqual(4);
  for (const [, words] of pictures) expect(words?.length).toBeGreaterThan(20);
});

it('every picture that is kept is shown somewhere', () => {
  const all = DOCUMENTS.map(path => readFileSync(`${root}/${path}`, 'utf8')).join('\n');
  expect(readdirSync(`${root}/screenshots`).filter(name => !all.includes(`screenshots/${name}`))).toEqual([]);
});

/** What people read on GitHub. */
const DOCUMENTS = [
  'README.md',
  'src/README.md',
  'test/README.md',
  '.github/CONTRIBUTING.md',
  '.github/SECURITY.md',
  '.github/CHANGELOG.md',
  ...readdirSync(`${root}/src/manual`)
    .filter(name => name.endsWith('.md'))
    .map(name => `src/manual/${name}`),
];

/** As GitHub makes the anchor of a heading. */
const anchors = (text: string): string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

it.each(DOCUMENTS)('%s links only to what is there', path => {
  const text = readFileSync(`${root}/${path}`, 'utf8');
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)];
  const broken = links.filter(([, file, anchor]) => {
    const target = file === '' ? `${root}/${path}` : `${root}/${dirname(path)}/${file}`;
    if (!existsSync(target)) return true;
    return anchor !== undefined && !anchors(readFileSync(target, 'utf8')).includes(anchor);
  });
  expect(broken.map(([link]) => link)).toEqual([]);
});

/** What lies below `.partial()` and `.nullable()`; the sentence may stand at any of them. */
const peeled = (
  schema: z.core.$ZodType,
): { readonly shape: z.core.$ZodShape | null; readonly meaning: string } => {
  const meaning = z.globalRegistry.get(schema)?.description ?? '';
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    const inner = peeled(schema.unwrap());
    return { ...inner, meaning: meaning || inner.meaning };
  }
  return { shape: schema instanceof z.ZodObject ? schema.shape : null, meaning };
};

const rowsOf = (schema: z.core.$ZodType, defaults: unknown, path: string): string[] => {
  const { shape, meaning } = peeled(schema);
  if (shape === null) return [`| \`${path}\` | \`${JSON.stringify(defaults)}\` | ${meaning} |`];
  return Object.entries(shape).flatMap(([key, inner]) =>
    rowsOf(inner, (defaults as Record<string, unknown>)[key], path === '' ? key : `${path}.${key}`),
  );
};

describe('the table of the config', () => {
  const rows = rowsOf(userSchema, DEFAULT_CONFIG, '');

  it('says of every key what it means', () => {
    expect(rows.length).toBeGreaterThan(40);
    expect(rows.filter(row => / \|\s+\|$|undefined/.test(row))).toEqual([]);
  });

  it('is the one in the manual', () => {
    const [, shown] = /<!-- config:begin[^>]*-->\n([\s\S]*?)<!-- config:end -->/.exec(page('config')) ?? [];
    expect(shown?.trim()).toBe(['| key | default | meaning |', '| --- | --- | --- |', ...rows].join('\n'));
  });
});

it.each(DOCUMENTS)('%s names only commands of npm that there are', path => {
  const { scripts } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));
  const text = readFileSync(`${root}/${path}`, 'utf8');
  const named = [...text.matchAll(/npm run ([a-z]+)/g)].map(([, name]) => name!);
  expect(named.filter(name => scripts[name] === undefined)).toEqual([]);
});

it('the manual names every policy of guard with its default', () => {
  const rows = page('guard').split('\n');
  const said = Object.entries(DEFAULT_CONFIG.policy).filter(([, value]) => typeof value === 'boolean');
  expect(said.length).toBeGreaterThan(5);
  for (const [name, on] of said) {
    const row = rows.find(line => line.startsWith('|') && line.split('|')[1]!.includes(`\`${name}\``));
    expect([name, row?.split('|')[2]?.trim()]).toEqual([name, on ? 'on' : 'off']);
  }
});

const fieldsOf = (schema: z.core.$ZodType): string[] => {
  if (schema instanceof z.ZodArray) return fieldsOf(schema.element);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return fieldsOf(schema.unwrap());
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([name, inner]) => [
    name,
    ...fieldsOf(inner as z.core.$ZodType),
  ]);
};

it('the manual names every field of the JSON', () => {
  const words = new Set(page('json').match(/\w+/g));
  const fields = fieldsOf(snapshotSchema);
  expect(fields.length).toBeGreaterThan(80);
  expect(fields.filter(field => !words.has(field))).toEqual([]);
});

describe('the map of the source', () => {
  const map = readFileSync(`${root}/src/README.md`, 'utf8');
  /** `judge/plan/sleep.ts`, `hooks/decide/`, `test/judge/health`; commands and names in code have no slash. */
  const named = [...map.matchAll(/`((?:\.?[\w-]+\/)+[\w.-]*|[\w-]+\.(?:tsx?|mjs|cjs))`/g)].map(
    ([, path]) => path!,
  );

  it('names only files and directories that there are', () => {
    expect(named.length).toBeGreaterThan(60);
    expect(
      named.filter(path => !existsSync(`${root}/src/${path}`) && !existsSync(`${root}/${path}`)),
    ).toEqual([]);
  });

  it('names every room', () => {
    const rooms = readdirSync(`${root}/src`, { withFileTypes: true }).filter(entry => entry.isDirectory());
    expect(rooms.map(({ name }) => `${name}/`).filter(room => !named.includes(room))).toEqual([]);
  });
});
