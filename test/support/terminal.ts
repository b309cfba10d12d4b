import { EventEmitter } from 'node:events';
import xterm, { type Terminal } from '@xterm/headless';
import { until } from './until.ts';

/** A terminal without a screen: what a program writes is interpreted by xterm, what the test presses is what it reads. */

class FakeStdout extends EventEmitter {
  readonly isTTY = true;
  readonly writable = true;
  columns: number;
  rows: number;
  /** Every write, in order: for the tests of how much is written. */
  readonly writes: string[] = [];
  readonly #terminal: Terminal;

  constructor(terminal: Terminal) {
    super();
    this.#terminal = terminal;
    this.columns = terminal.cols;
    this.rows = terminal.rows;
  }

  write(data: string | Uint8Array, encoding?: unknown, callback?: unknown): boolean {
    const done = typeof encoding === 'function' ? encoding : callback;
    this.writes.push(String(data));
    this.#terminal.write(String(data), typeof done === 'function' ? () => done() : undefined);
    return true;
  }
}

class FakeStdin extends EventEmitter {
  readonly isTTY = true;
  raw = false;
  paused = true;
  setEncoding(): this {
    return this;
  }
  setRawMode(raw: boolean): this {
    this.raw = raw;
    return this;
  }
  resume(): this {
    this.paused = false;
    return this;
  }
  pause(): this {
    this.paused = true;
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  read(): null {
    return null;
  }
}

export interface Cell {
  readonly text: string;
  readonly width: number;
  readonly foreground: number | null;
  readonly background: number | null;
  readonly bold: boolean;
  readonly faint: boolean;
  readonly inverse: boolean;
  readonly underline: boolean;
}

export class HeadlessTerminal {
  readonly terminal: Terminal;
  readonly stdout: FakeStdout;
  readonly stdin = new FakeStdin();

  constructor(columns: number, rows: number) {
    // Raw mode keeps ONLCR (libuv sets it): a line feed still begins at the left edge.
    this.terminal = new xterm.Terminal({
      cols: columns,
      rows,
      allowProposedApi: true,
      convertEol: true,
      scrollback: 100,
    });
    this.stdout = new FakeStdout(this.terminal);
  }

  get stdio(): { stdin: NodeJS.ReadStream; stdout: NodeJS.WriteStream } {
    return {
      stdin: this.stdin as unknown as NodeJS.ReadStream,
      stdout: this.stdout as unknown as NodeJS.WriteStream,
    };
  }

  /** One read of the terminal: all of it in one chunk. */
  type(chunk: string): void {
    this.stdin.emit('data', chunk);
  }

  resize(columns: number, rows: number): void {
    this.terminal.resize(columns, rows);
    this.stdout.columns = columns;
    this.stdout.rows = rows;
    this.stdout.emit('resize');
  }

  /** Resolves when xterm has interpreted all that was written. */
  settled(): Promise<void> {
    return new Promise(resolve => this.terminal.write('', resolve));
  }

  /** The screen as text, without trailing blanks. */
  text(): string {
    return this.lines().join('\n');
  }

  lines(): string[] {
    const buffer = this.terminal.buffer.active;
    return Array.from({ length: this.terminal.rows }, (_, row) =>
      (buffer.getLine(buffer.viewportY + row)?.translateToString(true) ?? '').trimEnd(),
    );
  }

  get alternate(): boolean {
    return this.terminal.buffer.active.type === 'alternate';
  }

  cells(row: number): Cell[] {
    const line = this.terminal.buffer.active.getLine(this.terminal.buffer.active.viewportY + row);
    return Array.from({ length: this.terminal.cols }, (_, column) => {
      const cell = line?.getCell(column);
      return {
        text: cell?.getChars() ?? '',
        width: cell?.getWidth() ?? 1,
        foreground: cell && !cell.isFgDefault() ? cell.getFgColor() : null,
        background: cell && !cell.isBgDefault() ? cell.getBgColor() : null,
        bold: Boolean(cell?.isBold()),
        faint: Boolean(cell?.isDim()),
        inverse: Boolean(cell?.isInverse()),
        underline: Boolean(cell?.isUnderline()),
      };
    });
  }

  /** Waits until the screen shows the text, or matches. */
  async until(wanted: string | RegExp): Promise<void> {
    try {
      await until(`the screen to show ${String(wanted)}`, async () => {
        await this.settled();
        return typeof wanted === 'string' ? this.text().includes(wanted) : wanted.test(this.text());
      });
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${this.text()}`);
    }
  }
}
