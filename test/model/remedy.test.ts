import { expect, test } from 'vitest';
import type { Finding } from '../../src/model/finding.ts';
import { remedyInText } from '../../src/model/plan-text.ts';

const finding = (change: Partial<Finding>): Finding => ({
  id: 'leak',
  severity: 'warn',
  title: '',
  why: '',
  processes: [{ pid: 12, start: 's' }],
  files: [],
  remedy: 'do it',
  action: null,
  ...change,
});

test.each<[string, Partial<Finding>, number, string]>([
  ['an old leak', { action: 'clean' }, 60, 'do it (reaptop clean)'],
  ['a young leak', { action: 'clean' }, 59, 'do it (reaptop clean --age-threshold 0)'],
  ['zombies', { action: 'zombies' }, 0, 'do it (reaptop clean --zombie-parents)'],
  ['what sweep takes', { action: 'sweep' }, 0, 'do it (reaptop sweep)'],
  ['a file of nobody', { action: 'remove-file', processes: [] }, 0, 'do it (reaptop sweep)'],
  ['a file of somebody, which sweep leaves alone', { action: 'remove-file' }, 0, 'do it'],
  ['what is stopped', { action: 'continue' }, 0, 'do it (kill -CONT 12)'],
  ['what may be in use', { action: 'end' }, 0, 'do it'],
  ['what nothing mends', {}, 0, 'do it'],
])('in text, the remedy of %s names a command that works', (_, change, oldest, told) => {
  expect(remedyInText(finding(change), oldest)).toBe(told);
});
