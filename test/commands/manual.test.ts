import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { EXIT_CODES } from '../../src/output.ts';
import { CLI } from '../support/cli.ts';
import { lacking } from '../support/lacking.ts';
import { plainEnv } from '../support/sandbox.ts';

const page = readFileSync(join(dirname(CLI), 'reaptop.1'), 'utf8');
const help = (...command: string[]): string =>
  spawnSync(process.execPath, [CLI, ...command, '--help'], { env: plainEnv(), encoding: 'utf8' }).stdout;

const optionsIn = (text: string): string[] => [...new Set(text.match(/(?<=^ +(?:-\w, )?)--[\w-]+/gm))];

it('the manual has every option that the help of the program and of each command shows', () => {
  const [listed = ''] = help().split('\nExamples:');
  const commands = [...listed.matchAll(/^ {2}([a-z]+) .*\S/gm)]
    .map(([, name]) => name!)
    .filter(c => c !== 'help');
  expect(commands).toEqual(expect.arrayContaining(['clean', 'sweep', 'doctor', 'completion']));
  const plain = page.replaceAll('\\-', '-');
  for (const command of commands) expect(plain).toContain(`reaptop ${command} `);
  for (const option of [[], ...commands.map(c => [c])].flatMap(words => optionsIn(help(...words))))
    expect(plain).toContain(option);
});

it('the manual says what differs from command to command, in the words of the help', () => {
  const plain = page.replaceAll('\\-', '-');
  const guard = plain.slice(plain.indexOf('reaptop guard '), plain.indexOf('reaptop hook '));
  expect(guard).toContain('.B --once\none pass (two samples), for cron');
  expect(guard).toContain('.B --interval <seconds>\ntime between samples (default: 10)');
  expect(guard).toContain('.I action\ninstead of running (install, uninstall, status, allow, print)');
  expect(plain).toContain('how far back: 90m, 12h, 7d, 2w [default: 7d]');
  expect(help('guard')).toContain('time between samples (default: 10)');
});

it('the manual and the README tell the same exit codes', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  for (const [code, meaning] of EXIT_CODES) {
    expect(readme).toContain(`| ${code} | ${meaning} |`);
    expect(page).toContain(`.B ${code}\n`);
  }
});

it('the manual has no requests but those we mean', () => {
  expect(page).toMatch(/^\.TH REAPTOP 1 /);
  // A line that begins with a dot is a request: only those we mean are there.
  const requests = new Set([...page.matchAll(/^\.(\w+)/gm)].map(([, request]) => request));
  expect([...requests].sort()).toEqual(['B', 'I', 'SH', 'SS', 'TH', 'TP']);
});

it('the manual is roff that a formatter takes without a warning', () => {
  const { error, stderr } = spawnSync('groff', ['-man', '-ww', '-z', '-Tascii'], {
    input: page,
    encoding: 'utf8',
  });
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT')
    lacking('groff is not installed (Debian package "groff-base").');
  expect([error, stderr]).toEqual([undefined, '']);
});

it('the help has examples, says what bare reaptop does, and lists own flags before shared ones', () => {
  expect(help()).toContain('Without a command it is the live screen');
  expect(help()).toMatch(/\nExamples:\n {2}reaptop\n/);
  expect(page).toContain('.SH EXAMPLES\n');
  const clean = optionsIn(help('clean'));
  expect(clean.indexOf('--zombie-parents')).toBeLessThan(clean.indexOf('--root'));
  for (const flag of ['--interval', '--poll', '--all']) expect(clean).not.toContain(flag);
  expect(optionsIn(help('report'))).toEqual(['--since', '--by', '--json', '--no-color', '--help']);
});
