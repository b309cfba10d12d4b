import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseUserConfig } from '../../src/engine/config-schema.ts';
import { plainConfig } from '../../src/engine/plain-config.ts';

const VALUES = [
  1,
  2,
  3,
  4,
  0.2,
  0.1,
  3600,
  3601,
  true,
  false,
  null,
  'auto',
  'light',
  'pink',
  [],
  ['pid'],
  ['x'],
  {},
];

test('settings of the screen are read without the schema, and never otherwise than by it', () => {
  expect(plainConfig('{ "theme": "light", "columns": ["pid", "mem"], "mouse": false, "level": 2 }')).toEqual({
    theme: 'light',
    columns: ['pid', 'mem'],
    mouse: false,
    level: 2,
  });
  let read = 0;
  const config = fc.dictionary(
    fc.constantFrom('theme', 'columns', 'mouse', 'level', 'interval', 'protect', '__proto__', 'toString'),
    fc.constantFrom(...VALUES),
    { maxKeys: 3 },
  );
  fc.assert(
    fc.property(config, values => {
      const text = JSON.stringify(values);
      const plain = plainConfig(text);
      if (plain === null) return;
      read += 1;
      expect({ ok: true, value: plain }).toEqual(parseUserConfig(text));
    }),
    { numRuns: 2000 },
  );
  expect(read).toBeGreaterThan(100);
});

test.each(['', '[]', 'null', '{ // a comment\n}', '{ "protect": ["x"] }', '{ "theme": "pink" }'])(
  'the schema is asked about %j',
  text => expect(plainConfig(text)).toBeNull(),
);
