import { readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { type IPty, spawn } from '@lydell/node-pty';
import xterm, { type Terminal } from '@xterm/headless';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { BINDINGS } from '../../../src/tui/keys/bindings.ts';
import { plainEnv } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';
import { bundleDemo } from '../bundle.ts';
import { sent } from '../drive.ts';
import { SCENES, type Scene } from '../scenes.ts';

let bundle: string;
/** As the product's screen runs: nothing lives long enough here to be worth the optimising compiler. */
const screenArgs = (): string[] => ['--no-opt', bundle];

/** A real terminal with the bundled TUI in it. */
class Pty {
  readonly terminal: Terminal;
  readonly process: IPty;
  readonly exit: Promise<{ exitCode: number; signal?: number }>;

  constructor(columns: number, rows: number, command = process.execPath, args = screenArgs(), env = {}) {
    this.terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
    this.process = spawn(command, args, {
      cols: columns,
      rows,
      name: 'xterm-256color',
      env: { ...plainEnv(), LANG: 'C.UTF-8', ...env } as Record<string, string>,
    });
    this.process.onData(data => this.terminal.write(data));
    this.exit = new Promise(resolve => this.process.onExit(resolve));
  }

  text(): string {
    const { active } = this.terminal.buffer;
    return Array.from({ length: this.terminal.rows }, (_, row) =>
      (active.getLine(active.viewportY + row)?.translateToString(true) ?? '').trimEnd(),
    ).join('\n');
  }

  get alternate(): boolean {
    return this.terminal.buffer.active.type === 'alternate';
  }

  shows(wanted: string): Promise<unknown> {
    return until(`the terminal to show ${wanted}`, () => this.text().includes(wanted));
  }

  resize(columns: number, rows: number): void {
    this.terminal.resize(columns, rows);
    this.process.resize(columns, rows);
  }
}

let pty: Pty;
afterEach(async () => {
  pty.process.kill('SIGKILL');
  await pty.exit;
});

const screen = (name: string): string =>
  readFileSync(new URL(`../__screens__/${name}.txt`, import.meta.url), 'utf8').trimEnd();

/** Reached by keys that may come all at once; one way of making rows is enough for the terminal. */
const STILL = SCENES.filter(
  ({ name, press }) => !press.includes('go') && !/^(list|projects|fix-40)/.test(name),
);

/** What is drawn in the tests' own process is drawn by Ink as published: there it takes no terminal to see every scene. */
const ONE_A_SIZE = [...new Map(STILL.map(scene => [`${scene.columns}×${scene.rows}`, scene])).values()];

const keysTo = ({ press }: Scene): string =>
  press.map(name => sent(BINDINGS.find(b => b.name === name)!.keys[0]!)).join('');

describe.each([
  ['on Ink with the drop-in', true],
  ['on Ink as published', false],
])('the bundle %s', (_, dropIn) => {
  beforeAll(async () => {
    bundle = await bundleDemo({ dropIn });
  });
  afterAll(() => rmSync(dirname(bundle), { recursive: true, force: true }));

  test.each(dropIn ? STILL : ONE_A_SIZE)('$name is as in its picture', async scene => {
    pty = new Pty(scene.columns, scene.rows);
    await pty.shows('leaked');
    pty.process.write(keysTo(scene));
    await until(scene.name, () => pty.text().trimEnd() === screen(scene.name));
  });

  test('CI, DEV and NO_COLOR in the environment do not keep it from drawing', async () => {
    pty = new Pty(80, 24, process.execPath, screenArgs(), { CI: '1', DEV: 'true', NO_COLOR: '1' });
    await pty.shows('9 leaked 3.0G');
  });

  test('filter, mark, plan, run, see it gone, resize twice, quit', async () => {
    pty = new Pty(100, 30);
    await pty.shows('9 leaked');
    pty.process.write('/3402\r');
    await pty.shows('/3402');
    pty.process.write(' ');
    await pty.shows('1 marked');
    pty.process.write('x');
    await pty.shows('End: 4 processes');
    pty.process.write('y');
    // A test is quicker than anybody who reads: a y that came too early is given again.
    await until('the plan to run', () => {
      if (pty.text().includes('Too early')) pty.process.write('y');
      return /Working|Done/.test(pty.text());
    });
    await pty.shows('3 ended, 1 killed');
    pty.process.write('\r');
    pty.process.write('\u001b');
    await pty.shows('5 leaked');
    pty.resize(60, 40);
    await pty.shows('5 leaked 70');
    pty.resize(100, 30);
    await pty.shows('1 of ');
    pty.process.write('q');
    expect((await pty.exit).exitCode).toBe(0);
    await until('the main screen', () => !pty.alternate);
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['SIGINT', 130],
  ])('%s gives the terminal back and exits with %i', async (signal, code) => {
    pty = new Pty(80, 24);
    await pty.shows('leaked');
    expect(pty.alternate).toBe(true);
    process.kill(pty.process.pid, signal);
    expect((await pty.exit).exitCode).toBe(code);
    await until('the main screen', () => !pty.alternate);
  });

  test('Ctrl-Z stops it under a shell with the terminal restored, fg brings it back', async () => {
    pty = new Pty(80, 24, 'bash', ['--norc', '-i'], { PS1: 'prompt> ' });
    await pty.shows('prompt>');
    pty.process.write(`${[process.execPath, ...screenArgs()].join(' ')}\r`);
    await pty.shows('9 leaked');
    pty.process.write('\u001a');
    await pty.shows('Stopped');
    expect(pty.alternate).toBe(false);
    pty.process.write('fg\r');
    await pty.shows('9 leaked');
    pty.process.write('j');
    await pty.shows('2 of 26');
    pty.process.write('q');
    await until('the main screen', () => !pty.alternate);
    pty.process.write('exit\r');
    await pty.exit;
  });
});
