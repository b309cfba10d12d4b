import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { userSchema } from '../src/engine/config-schema.ts';
import { DEFAULT_CONFIG } from '../src/model/config-defaults.ts';
import { keyName } from '../src/tui/help/key-names.ts';
import { BINDINGS } from '../src/tui/keys/bindings.ts';
import { keyTable } from './support/key-table.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(`${root}/README.md`, 'utf8');
const page = (topic: string): string => readFileSync(`${root}/src/manual/${topic}.md`, 'utf8');

it('the manual shows the keys that the program has', () => {
  const [, shown] = /<!-- keys:begin[^>]*-->\n([\s\S]*?)<!-- keys:end -->/.exec(page('keys')) ?? [];
  expect(shown?.trim()).toBe(keyTable().trim());
});

it('names in its short table only keys of the main screen', () => {
  const [, table] = /\| keys \| \|\n([\s\S]*?)\n\n/.exec(readme) ?? [];
  const named = [...(table ?? '').matchAll(/`([^`]+)`/g)].map(([, key]) => key!);
  const keys = new Set(
    BINDINGS.filter(b => b.context === 'main').flatMap(b => b.keys.map(key => keyName(key))),
  );
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter(key => !keys.has(key))).toEqual([]);
});

it('shows only pictures that are there, each with words for those who cannot see it', () => {
  const pictures = [...readme.matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g)];
  expect(pictures.length).toBeGreaterThanOrEqual(6);
  for (const [, words, path] of pictures) {
    expect(words?.length).toBeGreaterThan(20);
    expect(existsSync(`${root}/${path}`), path).toBe(true);
  }
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

it('names only commands of npm that there are', () => {
  const { scripts } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));
  const named = new Set([...readme.matchAll(/npm run ([a-z]+)/g)].map(([, name]) => name!));
  expect([...named].filter(name => scripts[name] === undefined)).toEqual([]);
  expect(named.size).toBeGreaterThanOrEqual(6);
});
