import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { DEFAULT_CONFIG } from '../src/model/config.ts';
import { keyTableMarkdown } from '../src/tui/keys/table.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(`${root}/README.md`, 'utf8');

it('shows the keys that the program has', () => {
  const [, shown] = /<!-- keys:begin[^>]*-->\n([\s\S]*?)<!-- keys:end -->/.exec(readme) ?? [];
  expect(shown?.trim()).toBe(keyTableMarkdown().trim());
});

it('shows only pictures that are there, each with words for those who cannot see it', () => {
  const pictures = [...readme.matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g)];
  expect(pictures.length).toBeGreaterThanOrEqual(6);
  for (const [, words, path] of pictures) {
    expect(words?.length).toBeGreaterThan(20);
    expect(existsSync(`${root}/${path}`), path).toBe(true);
  }
});

/** `limitBytes` with its number, for each finding. */
const thresholdTable = (): string =>
  [
    '| finding | threshold | default |',
    '| --- | --- | --- |',
    ...Object.entries(DEFAULT_CONFIG.thresholds).flatMap(([finding, values]) =>
      Object.entries(values).map(([name, value]) => `| \`${finding}\` | \`${name}\` | ${value} |`),
    ),
  ].join('\n');

it('lists every threshold with its default', () => {
  const [, shown] = /<!-- thresholds:begin[^>]*-->\n([\s\S]*?)<!-- thresholds:end -->/.exec(readme) ?? [];
  expect(shown?.trim()).toBe(thresholdTable());
});

it('names only commands of npm that there are', () => {
  const { scripts } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));
  const named = new Set([...readme.matchAll(/npm run ([a-z]+)/g)].map(([, name]) => name!));
  expect([...named].filter(name => scripts[name] === undefined)).toEqual([]);
  expect(named.size).toBeGreaterThanOrEqual(6);
});
