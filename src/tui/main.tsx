import { render } from 'ink';
import type { Live } from '../live/live.ts';
import type { ThemeChoice } from '../model/look.ts';
import { App } from './app.tsx';
import { Controller } from './controller.ts';
import { KeyReader } from './keys/reader.ts';
import { glyphsFor } from './look/glyphs.ts';
import { SpokenApp } from './spoken-app.tsx';
import {
  BACKGROUND_QUESTION,
  backgroundOfEnvironment,
  backgroundOfReply,
  canAnswer,
} from './terminal/background.ts';
import { TerminalModes } from './terminal/modes.ts';
import { PaintPort } from './terminal/paint-port.ts';
import { crashSentence, watchProcess } from './terminal/signals.ts';
import { lookOf } from './view/look.ts';

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

/** SIGTSTP to the group, as the terminal itself would: where no shell could resume us (a pane's own command) the kernel ignores it. */
const stopGroup = (): void => void process.kill(0, 'SIGTSTP');

/** The stop is taken a moment after `kill` returns, on whichever thread; nothing may be painted before it. */
const STOP_MS = 60;

/** Above this Ink would hold back a frame that follows a key; below, a burst of keys is one frame. */
const MAX_FPS = 90;

/** After this the frame for a new size has been written, if there is one. */
const SETTLED_MS = 3 * (1000 / MAX_FPS);

/**
 * Shows the engine until the user leaves; resolves to the exit code, with the terminal as it was.
 * The bundle must alias `is-in-ci` to false, leave out `react-devtools-core`, and bake in NODE_ENV=production;
 * `build/ink/patches.mjs` is the esbuild plugin that does it.
 */
export const runTui = ({
  live,
  options,
  stdin,
  stdout,
  env,
  stopSelf = stopGroup,
}: TuiParts): Promise<number> =>
  new Promise(resolve => {
    const colour = options.color ?? (!env.NO_COLOR && env.FORCE_COLOR !== '0');
    const spoken = options.screenReader ?? env.INK_SCREEN_READER === 'true';
    const { config } = live.getState();
    const look = lookOf(
      { ...config, theme: options.theme ?? config.theme, mouse: options.mouse ?? config.mouse },
      backgroundOfEnvironment(env),
    );
    const modes = new TerminalModes(stdout, look);
    const port = new PaintPort(stdout);
    const size = () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 });
    let finished = false;

    const finish = (code: number, sentence?: string): void => {
      if (finished) return;
      finished = true;
      port.hold(true);
      controller.stop();
      unsubscribe();
      reader.stop();
      unwatch();
      stdout.off('resize', onResize);
      stdin.off('data', onData);
      stdin.off('end', onHangUp);
      stdout.off('error', onHangUp);
      ink.unmount();
      if (stdin.isTTY) stdin.setRawMode(false);
      stdin.pause();
      modes.leave();
      if (sentence) process.stderr.write(`${sentence}\n`);
      resolve(code);
    };

    const enter = (): void => {
      if (!spoken) modes.enter();
      if (stdin.isTTY) stdin.setRawMode(true);
      stdin.resume();
    };

    let resumeTimer: NodeJS.Timeout | null = null;
    const resume = (): void => {
      if (resumeTimer) clearTimeout(resumeTimer);
      resumeTimer = null;
      if (finished) return;
      modes.leave();
      enter();
      controller.resize(size());
      if (!spoken) port.hold(false);
    };
    const suspend = (): void => {
      port.hold(true);
      modes.leave();
      if (stdin.isTTY) stdin.setRawMode(false);
      stopSelf();
      resumeTimer = setTimeout(resume, STOP_MS);
    };

    const controller = new Controller({
      live,
      size: size(),
      glyphs: glyphsFor(env),
      all: options.all ?? false,
      look,
      colour,
      setMouse: mouse => modes.setMouse(mouse),
      frame: () => port.frame,
      toClipboard: text => modes.copy(text),
      quit: finish,
      suspend,
      redraw: () => port.repaint(),
    });
    const reader = new KeyReader(stroke => {
      if (finished) return;
      const background = stroke.key === 'reply' ? backgroundOfReply(stroke.text) : null;
      if (background) controller.dispatch({ type: 'look', look: { background } });
      else controller.key(stroke);
    });
    const onData = (data: string | Buffer): void => reader.push(String(data));
    const onResize = (): void => {
      port.forget();
      controller.resize(size());
      // Ink does not write a frame again that looks as it did before: then nobody else repairs the screen.
      setTimeout(() => port.mend(), SETTLED_MS);
    };
    // Without a terminal there is nobody to show anything to: a monitor of leaks must not become one.
    const onHangUp = (): void => finish(129);
    const unwatch = watchProcess({ finish, restore: () => modes.leave(), resume });

    const rings = options.bell ?? config.alerts.bell;
    let rung = live.getState().rings ?? 0;
    const unsubscribe = live.subscribe(() => {
      const now = live.getState().rings ?? 0;
      if (rings && now > rung) modes.ring();
      rung = now;
    });

    enter();
    stdin.setEncoding('utf8');
    stdin.on('data', onData);
    stdin.on('end', onHangUp);
    stdout.on('error', onHangUp);
    stdout.on('resize', onResize);
    if (colour && !spoken && canAnswer(env)) modes.ask(BACKGROUND_QUESTION);
    const ink = render(spoken ? <SpokenApp store={controller} /> : <App store={controller} />, {
      stdout: spoken ? stdout : (port as unknown as NodeJS.WriteStream),
      stdin,
      exitOnCtrlC: false,
      patchConsole: false,
      maxFps: MAX_FPS,
      isScreenReaderEnabled: spoken,
    });
    ink.waitUntilExit().catch((error: unknown) => finish(1, crashSentence(error)));
  });
