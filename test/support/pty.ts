import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type IPty, spawn } from '@lydell/node-pty';
import xterm, { type Terminal } from '@xterm/headless';
import type { Level } from '../../src/model/ui-settings.ts';
import { CLI } from './cli.ts';
import type { Sandbox } from './sandbox.ts';
import { until } from './until.ts';

export interface PtyOptions {
  readonly columns?: number;
  readonly rows?: number;
  /** Arguments of reaptop. */
  readonly args?: readonly string[];
  /** Another program than reaptop, as argv. */
  readonly command?: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** What the tree shows at first; default: every process. */
  readonly level?: Level;
}

/** What the keys without a character send. */
export const KEY = {
  enter: '\r',
  escape: '\u001b',
  tab: '\t',
  shiftTab: '\u001b[Z',
  up: '\u001b[A',
  down: '\u001b[B',
  ctrlC: '\u0003',
  ctrlZ: '\u001a',
} as const;

/** By the user's config, unless a test has one of its own. */
export const showAtFirst = (sandbox: Pick<Sandbox, 'path'>, level: Level): void => {
  const config = sandbox.path('home/.config/reaptop/config.json');
  if (existsSync(config)) return;
  mkdirSync(dirname(config), { recursive: true });
  writeFileSync(config, JSON.stringify({ level }));
};

/** A real terminal with the built program in it; what it writes is interpreted by xterm. */
export class Pty {
  readonly terminal: Terminal;
  readonly process: IPty;
  readonly exited: Promise<number>;
  /** Everything that was written, for what a screen does not tell: colours, modes. */
  written = '';

  constructor(sandbox: Pick<Sandbox, 'path' | 'env'>, options: PtyOptions = {}) {
    const { columns = 100, rows = 30, args = ['--interval', '0.5'], env = {}, cwd } = options;
    showAtFirst(sandbox, options.level ?? 3);
    const [file, ...rest] = options.command ?? [process.execPath, CLI, ...args];
    this.terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 200 });
    this.process = spawn(file, rest, {
      cols: columns,
      rows,
      name: 'xterm-256color',
      cwd: cwd ?? sandbox.path('work'),
      env: { ...sandbox.env, LC_ALL: 'C.UTF-8', ...env } as Record<string, string>,
    });
    this.process.onData(data => {
      this.written += data;
      this.terminal.write(data);
    });
    this.exited = new Promise(resolve => this.process.onExit(({ exitCode }) => resolve(exitCode)));
  }

  get pid(): number {
    return this.process.pid;
  }

  /** One write, so one read for the program when it is not busy. */
  press(keys: string): void {
    this.process.write(keys);
  }

  /** The window is closed. */
  hangUp(): void {
    (this.process as unknown as { destroy(): void }).destroy();
  }

  lines(): string[] {
    const { active } = this.terminal.buffer;
    return Array.from({ length: this.terminal.rows }, (_, row) =>
      (active.getLine(active.viewportY + row)?.translateToString(true) ?? '').trimEnd(),
    );
  }

  text(): string {
    return this.lines().join('\n');
  }

  /** The row that shows this, or undefined. */
  row(wanted: string | RegExp): string | undefined {
    return this.lines().find(line =>
      typeof wanted === 'string' ? line.includes(wanted) : wanted.test(line),
    );
  }

  get footer(): string {
    return this.lines().findLast(line => line !== '') ?? '';
  }

  get alternate(): boolean {
    return this.terminal.buffer.active.type === 'alternate';
  }

  get cursorShown(): boolean {
    return this.written.lastIndexOf('\u001b[?25h') > this.written.lastIndexOf('\u001b[?25l');
  }

  async until(what: string, condition: () => unknown): Promise<void> {
    try {
      await until(what, condition);
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${this.text()}`);
    }
  }

  shows(...wanted: (string | RegExp)[]): Promise<void> {
    const there = (one: string | RegExp): boolean =>
      typeof one === 'string' ? this.text().includes(one) : one.test(this.text());
    return this.until(`the terminal to show ${wanted.join(' and ')}`, () => wanted.every(there));
  }

  hides(unwanted: string | RegExp): Promise<void> {
    return this.until(`the terminal not to show ${unwanted}`, () =>
      typeof unwanted === 'string' ? !this.text().includes(unwanted) : !unwanted.test(this.text()),
    );
  }

  resize(columns: number, rows: number): void {
    this.terminal.resize(columns, rows);
    this.process.resize(columns, rows);
  }

  /** Filters for a text, keeps the filter, and waits until the first match is selected. */
  async select(text: string): Promise<void> {
    this.press(`/${text}`);
    await this.shows(`filter ${text}`);
    this.press(KEY.enter);
    await this.shows(`/${text}`, new RegExp(`^│?[▌ ].*${text}`, 'm'));
  }

  /** Answers the open plan with y. A test is quicker than anybody who reads: a y that came too early is given again. */
  async confirm(): Promise<void> {
    this.press('y');
    await this.until('the plan to run', () => {
      if (/Working|Done/.test(this.text())) return true;
      if (this.text().includes('Too early')) this.press('y');
      return false;
    });
  }

  /** The exit code; waits for it. */
  async exit(): Promise<number> {
    let code: number | null = null;
    void this.exited.then(exitCode => {
      code = exitCode;
    });
    await this.until('the program to exit', () => code !== null);
    return code!;
  }
}
