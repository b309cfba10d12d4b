import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const REPLACES = /\bvi\.(?:mock|doMock)\(/;

test('no test puts a module in the place of another: the tests share their modules', () => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    file => /\.test\.tsx?$/.test(file) && !file.includes('node_modules'),
  );
  expect(files.length).toBeGreaterThan(150);
  const replacing = files.filter(file => REPLACES.test(readFileSync(join(root, file), 'utf8')));
  expect(replacing).toEqual([]);
});
