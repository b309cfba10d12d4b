import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { recognise } from '../../src/judge/recognise/recognise.ts';
import type { Recognition } from '../../src/model/kind.ts';

interface Reported {
  readonly command: string;
  readonly what_the_reporter_says_it_is: string;
}

const REPORTED: readonly Reported[] = readFileSync(
  new URL('../fixtures/cases/reported.jsonl', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map(line => JSON.parse(line) as Reported);

const DEFUNCT = /^\[(.+)\] <defunct>$/;

const look = (command: string): Recognition => {
  const zombie = DEFUNCT.exec(command)?.[1] ?? (command === '<defunct>' ? command : null);
  return zombie === null
    ? recognise({ comm: '', argv: command.split(/\s+/), exe: null })
    : recognise({ comm: zombie, argv: null, exe: null });
};

const AGREES: Readonly<Record<string, (kind: Recognition['kind']) => boolean>> = {
  wrapper: kind => kind === 'wrapper',
  mcp: kind => kind === 'mcp',
  claude: kind => kind === 'agent',
  subagent: kind => kind === 'agent',
  'lean-lsp': kind => kind === 'lean-lsp',
  lake: kind => kind === 'lake',
  unrelated: kind => kind !== 'agent' && kind !== 'mcp',
};

/** Where we and the reporter differ, and why that is right. */
const DISAGREEMENTS: Readonly<Record<string, string>> = {
  '<defunct>': 'macOS keeps no name of a zombie: nothing in its own words says that it was a server',
  '/Applications/ChatGPT.app/Contents/Resources/codex -c features.code_mode_host=true app-server --analytics-default-enabled':
    'it is a codex; that its host is a live desktop app is for the verdict to see',
};

test('nine in ten reported processes are what their reporters say, and the rest are known', () => {
  const differing = REPORTED.filter(
    row => !AGREES[row.what_the_reporter_says_it_is]?.(look(row.command).kind),
  ).map(row => row.command);
  expect(REPORTED.length).toBeGreaterThan(100);
  expect(new Set(differing)).toEqual(new Set(Object.keys(DISAGREEMENTS)));
  expect(differing.length / REPORTED.length).toBeLessThanOrEqual(0.1);
});

test('a daemon that lives at PPID 1 by design says so', () => {
  const daemons = REPORTED.filter(row => /--daemon|--detached|--bg-/.test(row.command));
  expect(daemons.length).toBeGreaterThan(5);
  for (const { command } of daemons) expect(look(command).role).toMatch(/^(?:claude|declared)-daemon$/);
});

test('session ids of reported sessions are read', () => {
  const resumed = REPORTED.find(row => row.command.includes('--resume 9c33ca78'));
  expect(look(resumed?.command ?? '').sessionIds).toEqual(['9c33ca78-1244-4e57-8cc8-184e144261c7']);
});
