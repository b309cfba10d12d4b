import { render } from 'ink';
import type { Live } from '../engine/live-state.ts';
import type { ThemeChoice } from '../model/ui-settings.ts';
import { App } from './app.tsx';
import { Input } from './keys/input.ts';
import { KeyReader, type Keystroke } from './keys/reader.ts';
import { Store } from './store.ts';

import {
  BACKGROUND_QUESTION,
  backgroundOfEnvironment,
  backgroundOfReply,
  canAnswer,
} from './terminal/background.ts';
import { PaintPort } from './terminal/diffing-stdout.ts';
import { TerminalModes } from './terminal/modes.ts';
import { crashSentence, watchProcess } from './terminal/signals.ts';
import { glyphsFor } from './ui/glyphs.ts';
import type { Size } from './ui/layout.ts';
import { type Look, lookOf } from './ui/theme.ts';

/** The stop is taken a moment after `kill` returns, on whichever thread; nothing may be painted before it. */
const STOP_MS = 60;

/** Above this Ink would hold back a frame that follows a key; below, a burst of keys is one frame. */
const MAX_FPS = 90;

/** What is heard is not cut: as many rows as a plan or the help may have. */
const SPOKEN_SIZE: Size = { columns: 100, rows: 200 };

/** After this the frame for a new size has been written, if there is one. */
const SETTLED_MS = 3 * (1000 / MAX_FPS);

/** One showing of the engine on one terminal, until the user leaves or the terminal goes. */
export class Showing {
  readonly #parts: Required<TuiParts>;
  readonly #done: (code: number) => void;
  readonly #spoken: boolean;
  readonly #colour: boolean;
  readonly #look: Look;
  readonly #modes: TerminalModes;
  readonly #port: PaintPort;
  readonly #store: Store;
  readonly #input: Input;
  readonly #reader: KeyReader;
  /** What was begun and has to be undone, in that order. */
  readonly #undo: (() => void)[] = [];
  #resumeTimer: NodeJS.Timeout | null = null;
  #finished = false;

  constructor(parts: Required<TuiParts>, done: (code: number) => void) {
    const { live, options, stdout, env } = parts;
    const { config } = live.getState();
    this.#parts = parts;
    this.#done = done;
    this.#spoken = options.screenReader ?? env.INK_SCREEN_READER === 'true';
    this.#colour = options.color ?? (!env.NO_COLOR && env.FORCE_COLOR !== '0');
    this.#look = lookOf(
      { ...config, theme: options.theme ?? config.theme, mouse: options.mouse ?? config.mouse },
      backgroundOfEnvironment(env),
    );
    this.#modes = new TerminalModes(stdout, this.#look);
    this.#port = new PaintPort(stdout);
    this.#store = this.#makeStore();
    this.#input = new Input(this.#store);
    this.#reader = new KeyReader(stroke => this.#onKey(stroke));
  }

  start(): void {
    const { stdin, stdout, env } = this.#parts;
    // Without a terminal it ends: a monitor of leaks must not become one.
    const onHangUp = (): void => this.finish(129);
    const onData = (data: string | Buffer): void => this.#reader.push(String(data));
    const onResize = (): void => this.#onResize();
    const unwatch = watchProcess({
      finish: this.finish,
      restore: () => this.#modes.leave(),
      resume: () => this.#resume(),
    });
    this.#undo.push(
      () => this.#store.stop(),
      () => this.#reader.stop(),
      unwatch,
    );
    this.#enter();
    this.#undo.push(this.#ringForNews());
    stdin.setEncoding('utf8');
    stdin.on('data', onData);
    stdin.on('end', onHangUp);
    stdout.on('error', onHangUp);
    stdout.on('resize', onResize);
    this.#undo.push(() => {
      stdout.off('resize', onResize);
      stdin.off('data', onData);
      stdin.off('end', onHangUp);
      stdout.off('error', onHangUp);
    });
    if (this.#colour && !this.#spoken && canAnswer(env)) this.#modes.ask(BACKGROUND_QUESTION);
    this.#paint();
  }

  readonly finish = (code: number, sentence?: string): void => {
    if (this.#finished) return;
    this.#finished = true;
    this.#port.hold(true);
    for (const undo of this.#undo) undo();
    this.#leaveRaw();
    this.#parts.stdin.pause();
    this.#modes.leave();
    if (sentence) process.stderr.write(`${sentence}\n`);
    this.#done(code);
  };

  #makeStore(): Store {
    const { live, options, env } = this.#parts;
    return new Store({
      live,
      size: this.#size(),
      glyphs: glyphsFor(env),
      all: options.all ?? false,
      look: this.#look,
      colour: this.#colour,
      terminal: {
        setMouse: mouse => this.#modes.setMouse(mouse),
        frame: () => this.#port.frame,
        copy: text => this.#modes.copy(text),
        quit: this.finish,
        suspend: () => this.#suspend(),
        lend: work => this.#lend(work),
        redraw: () => this.#port.repaint(),
      },
    });
  }

  #paint(): void {
    const { stdin, stdout } = this.#parts;
    const ink = render(<App store={this.#store} input={this.#input} />, {
      stdout: this.#spoken ? stdout : (this.#port as unknown as NodeJS.WriteStream),
      stdin,
      exitOnCtrlC: false,
      patchConsole: false,
      maxFps: MAX_FPS,
      isScreenReaderEnabled: this.#spoken,
    });
    this.#undo.push(() => ink.unmount());
    ink.waitUntilExit().catch((error: unknown) => this.finish(1, crashSentence(error)));
  }

  #size(): Size {
    const { stdout } = this.#parts;
    if (this.#spoken) return SPOKEN_SIZE;
    return { columns: stdout.columns || 80, rows: stdout.rows || 24 };
  }

  #enter(): void {
    const { stdin } = this.#parts;
    if (!this.#spoken) this.#modes.enter();
    if (stdin.isTTY) stdin.setRawMode(true);
    stdin.resume();
  }

  #leaveRaw(): void {
    if (this.#parts.stdin.isTTY) this.#parts.stdin.setRawMode(false);
  }

  async #lend(work: () => Promise<string>): Promise<string> {
    this.#port.hold(true);
    this.#modes.leave();
    this.#leaveRaw();
    // Keys are the other's meanwhile.
    this.#parts.stdin.pause();
    try {
      return await work();
    } finally {
      this.#resume();
    }
  }

  #suspend(): void {
    this.#port.hold(true);
    this.#modes.leave();
    this.#leaveRaw();
    this.#parts.stopSelf();
    this.#resumeTimer = setTimeout(() => this.#resume(), STOP_MS);
  }

  #resume(): void {
    if (this.#resumeTimer) clearTimeout(this.#resumeTimer);
    this.#resumeTimer = null;
    if (this.#finished) return;
    this.#modes.leave();
    this.#enter();
    this.#store.resize(this.#size());
    if (!this.#spoken) this.#port.hold(false);
  }

  #onKey(stroke: Keystroke): void {
    if (this.#finished) return;
    const background = stroke.key === 'reply' ? backgroundOfReply(stroke.text) : null;
    if (background) this.#store.dispatch({ type: 'look', look: { background } });
    else this.#input.key(stroke);
  }

  #onResize(): void {
    this.#port.forget();
    this.#store.resize(this.#size());
    // Ink does not write a frame that equals the last one: then the screen must be repaired here.
    setTimeout(() => this.#port.mend(), SETTLED_MS);
  }

  #ringForNews(): () => void {
    const { live, options } = this.#parts;
    const rings = options.bell ?? live.getState().config.alerts.bell;
    let rung = 0;
    const ring = (): void => {
      const now = live.getState().rings ?? 0;
      if (rings && now > rung) this.#modes.ring();
      rung = now;
    };
    ring(); // the engine may have looked twice before there was a screen
    return live.subscribe(ring);
  }
}

export interface TuiOptions {
  readonly theme?: ThemeChoice;
  readonly all?: boolean;
  /** Default: what the config says. */
  readonly mouse?: boolean;
  /** Rings the bell of the terminal for news; default: what the config says. */
  readonly bell?: boolean;
  /** Default: unless NO_COLOR is set or FORCE_COLOR is 0. */
  readonly color?: boolean;
  /** A plain list without cursor tricks; also when INK_SCREEN_READER=true. */
  readonly screenReader?: boolean;
}

export interface TuiParts {
  readonly live: Live;
  readonly options: TuiOptions;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly env: NodeJS.ProcessEnv;
  /** Stops the process group until it is continued; tests put something else here. */
  readonly stopSelf?: () => void;
}
