import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shellLine, shellPath } from '../../src/model/shell.ts';

const word = fc.string({
  unit: fc.constantFrom(...'ab /.\'"$(){}[]`;&|<>*?~#!%=-\\é\n'),
  maxLength: 12,
});

test('a plain path stays as it is; a dash at its start is no flag', () => {
  expect(shellPath('specs/688_x/.agent-progress.json')).toBe('specs/688_x/.agent-progress.json');
  expect(shellPath('-rf')).toBe('./-rf');
});

test('a shell reads back any path, and runs none of it', () => {
  const read = (path: string): string =>
    execFileSync('sh', ['-c', `printf %s ${shellPath(path)}`]).toString();
  fc.assert(
    fc.property(word, path => {
      expect(read(path)).toBe(path.startsWith('-') ? `./${path}` : path);
    }),
    { numRuns: 40 },
  );
});

test.each([
  [['node', '/x/cli.js', '--port=80', '-p'], 'node /x/cli.js --port=80 -p'],
  [['A=b', '=ls', '~', ''], "'A=b' '=ls' '~' ''"],
  [['sh', '-c', "rm -rf $HOME; echo it's"], "sh -c 'rm -rf $HOME; echo it'\\''s'"],
])('%j is pasted as %s', (argv, line) => expect(shellLine(argv)).toBe(line));

test('a shell reads back any command line, word by word', () => {
  const read = (argv: readonly string[]): string[] =>
    execFileSync('sh', ['-c', `for word in ${shellLine(argv)}; do printf '%s\\0' "$word"; done`])
      .toString()
      .split('\0')
      .slice(0, -1);
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), argv => {
      expect(read(argv)).toEqual(argv);
    }),
    { numRuns: 40 },
  );
});
