import { type IPty, spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { until } from '../../support/until.ts';
import type { CommandOptions } from './measure.ts';

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

export const WIDE: TerminalSize = { columns: 200, rows: 50 };

/** A program in a pty. What it writes is only interpreted when somebody asks for the screen: that costs CPU. */
export class BenchTerminal {
  readonly #pty: IPty;
  readonly #size: TerminalSize;
  readonly #exited: Promise<void>;
  #written = '';
  /** Called with every piece of output. */
  onOutput: ((data: string) => void) | null = null;

  constructor(
    command: string,
    args: readonly string[],
    { size, env, cwd }: CommandOptions & { readonly size: TerminalSize },
  ) {
    this.#size = size;
    this.#pty = spawn(command, [...args], {
      cols: size.columns,
      rows: size.rows,
      name: 'xterm-256color',
      cwd,
      env: { ...env, LC_ALL: 'C.UTF-8' } as Record<string, string>,
    });
    this.#pty.onData(data => {
      this.#written += data;
      this.onOutput?.(data);
    });
    this.#exited = new Promise(done => this.#pty.onExit(() => done()));
  }

  get pid(): number {
    return this.#pty.pid;
  }

  press(keys: string): void {
    this.#pty.write(keys);
  }

  /** The rows as a person would see them now. */
  async screen(): Promise<string[]> {
    const { columns, rows } = this.#size;
    const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 0 });
    await new Promise<void>(done => terminal.write(this.#written, done));
    const lines = Array.from(
      { length: rows },
      (_, row) => terminal.buffer.active.getLine(row)?.translateToString(true) ?? '',
    );
    terminal.dispose();
    return lines;
  }

  /** Waits for a text that is written in one piece. */
  async wrote(text: string): Promise<void> {
    await until(`${text} on the screen`, () => this.#written.includes(text), { timeoutMs: 60_000 });
  }

  /** Leaves as a person does, so that the program can say something at its exit. */
  async quit(): Promise<void> {
    this.press('q');
    await this.#exited;
  }

  async close(): Promise<void> {
    this.#pty.kill('SIGTERM');
    await this.#exited;
  }
}
