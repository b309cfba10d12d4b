import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
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
