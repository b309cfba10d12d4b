import { expect, test } from 'vitest';
import { FAMILIES } from '../../src/agents/families.ts';
import { INTERPRETERS, SHELLS } from '../../src/agents/wrappers.ts';

test('every family can be matched by something', () => {
  for (const family of FAMILIES) {
    const ways = [
      family.programs,
      family.tokens,
      family.packages,
      family.modules,
      family.paths,
      family.comms,
    ];
    expect(
      ways.some(way => way !== undefined && way.length > 0),
      family.id,
    ).toBe(true);
  }
});

test('only wrappers carry something, and every one says what', () => {
  for (const family of FAMILIES)
    expect(family.carries !== undefined, family.id).toBe(family.kind === 'wrapper');
});

test('every agent has a family name, and nothing else has', () => {
  for (const family of FAMILIES) expect(family.agent !== undefined, family.id).toBe(family.kind === 'agent');
});

test('a name that no family can be trusted with alone is not listed without a condition', () => {
  const shared = ['lean', 'lake', 'goose', 'q', 'localhost', 'relay.js', 'serena', 'worker-service.cjs'];
  for (const name of shared) {
    for (const family of FAMILIES.filter(({ programs }) => programs?.includes(name))) {
      expect(family.only, `${family.id} by ${name}`).toBeDefined();
    }
  }
});

test('shells and interpreters are no families: what they run decides', () => {
  const names = new Set([...SHELLS.programs, ...INTERPRETERS.flatMap(({ programs }) => programs)]);
  const unconditional = FAMILIES.filter(
    ({ only, programs }) => !only && programs?.some(name => names.has(name)),
  );
  expect(unconditional).toEqual([]);
});
