import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TOPICS } from '../../src/commands/topics.ts';
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

it('the manual page and help json tell the same exit codes', () => {
  const json = readFileSync(new URL('../../src/manual/json.md', import.meta.url), 'utf8');
  for (const [code, meaning] of EXIT_CODES) {
    expect(json).toContain(`| ${code} | ${meaning} |`);
    expect(page).toContain(`.B ${code}\n`);
  }
});

it('the manual has no requests but those we mean', () => {
  expect(page).toMatch(/^\.TH REAPTOP 1 /);
  // A line that begins with a dot is a request: only those we mean are there.
  const requests = new Set([...page.matchAll(/^\.(\w+)/gm)].map(([, request]) => request));
  expect([...requests].sort()).toEqual(['B', 'I', 'SH', 'SS', 'TH', 'TP']);
});

const PAGES = readdirSync(dirname(CLI)).filter(name => /\.[157]$/.test(name));

it.each(PAGES)('%s is roff that a formatter takes without a warning', name => {
  const { error, stderr } = spawnSync('groff', ['-man', '-ww', '-z', '-K', 'utf8', '-Tutf8'], {
    input: readFileSync(join(dirname(CLI), name), 'utf8'),
    encoding: 'utf8',
  });
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT')
    lacking('groff is not installed (Debian package "groff-base").');
  expect([error, stderr]).toEqual([undefined, '']);
});

const reaptop = (...args: string[]) =>
  spawnSync(process.execPath, [CLI, ...args], { env: { ...plainEnv(), COLUMNS: '80' }, encoding: 'utf8' });

describe('reaptop help', () => {
  it('lists every topic', () => {
    const { stdout, status } = reaptop('help');
    expect(status).toBe(0);
    for (const [name, about] of TOPICS) expect(stdout).toContain(`  ${name.padEnd(10)}${about}\n`);
  });

  it.each(TOPICS)('%s fits 80 columns, comments of code aside, without marks of Markdown', name => {
    const { stdout, status } = reaptop('help', name);
    const source = readFileSync(new URL(`../../src/manual/${name}.md`, import.meta.url), 'utf8');
    const title = /^# (.*)$/m.exec(source)?.[1];
    expect(status).toBe(0);
    expect(stdout).toContain(`${title}\n\n`);
    const text = stdout.split('\n').filter(line => !/^ {4}.*\S {2,}# /.test(line));
    expect(text.filter(line => line.length > 80)).toEqual([]);
    expect(text.filter(line => /^\s*(?:\||#|```|<!--)|\*\*/.test(line))).toEqual([]);
  });

  it('has a page for each file of the manual, and npm installs each', () => {
    const files = readdirSync(new URL('../../src/manual/', import.meta.url))
      .filter(name => name.endsWith('.md'))
      .map(name => name.slice(0, -3));
    expect(TOPICS.map(([name]) => name).sort()).toEqual(files.sort());
    const { man } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect([...man].sort()).toEqual(PAGES.map(name => `./dist/${name}`).sort());
  });

  it('shows the flags of a command before the page of the same name', () => {
    const { stdout } = reaptop('help', 'guard');
    expect(stdout.indexOf('Usage: reaptop guard')).toBe(0);
    expect(stdout.indexOf('guard: unattended')).toBeGreaterThan(stdout.indexOf('Examples:'));
  });

  it('exits 2 for an unknown topic, and names the one that was meant', () => {
    const { stdout, stderr, status } = reaptop('help', 'verdict');
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^reaptop: no command or topic 'verdict'; did you mean verdicts\?\n/);
  });
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
