import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shellWord } from '../../src/commands/shell-word.ts';

const read = (word: string): string => execFileSync('sh', ['-c', `printf %s ${shellWord(word)}`]).toString();

test('a plain path stays as it is; a dash at its start is no flag', () => {
  expect(shellWord('specs/688_x/.agent-progress.json')).toBe('specs/688_x/.agent-progress.json');
  expect(shellWord('-rf')).toBe("'./-rf'");
});

test('a shell reads back any path, and runs none of it', () => {
  const path = fc.string({
    unit: fc.constantFrom(...'ab /.\'"$(){}`;&|<>*?~#!\\é'),
    minLength: 1,
    maxLength: 12,
  });
  fc.assert(
    fc.property(path, word => {
      expect(read(word)).toBe(word);
    }),
    { numRuns: 40 },
  );
});
