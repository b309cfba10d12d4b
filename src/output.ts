import type { Verdict } from './model/snapshot.ts';
import { inStyle, visible } from './model/text.ts';
import type { Tone as WordTone } from './model/ui-settings.ts';

export interface Output {
  write(text: string): void;
  readonly isTTY: boolean;
}

/** Why the output went nowhere; null while it arrives. A reader that closed the pipe has read enough. */
export interface Printed extends Output {
  readonly lost: () => string | null;
  /** Nothing waits to be written, and nothing has failed: what reads a pipe slowly may have to be waited for. */
  readonly taken: () => boolean;
}

/**
 * A stream that can be lost: a closed pipe, a full disk or a size limit stops the printing, never the run.
 * Files and devices throw from `write` itself, pipes tell a tick later.
 */
export const tolerantOutput = (
  stream: NodeJS.WriteStream,
  onLost: (why: string) => void = () => {},
): Printed => {
  let open = true;
  let lost: string | null = null;
  const lose = (error: unknown): void => {
    if (!open) return;
    open = false;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EPIPE') return;
    lost = visible(message);
    onLost(lost);
  };
  stream.on('error', lose);
  return {
    isTTY: stream.isTTY === true,
    lost: () => lost,
    taken: () => stream.writableLength === 0 && !stream.errored,
    write(text: string): void {
      if (!open) return;
      try {
        stream.write(text);
      } catch (error) {
        lose(error);
      }
    },
  };
};

/** Wide enough to read, narrow enough for a paste; used when the width of the output is unknown. */
const DEFAULT_WIDTH = 120;

export const widthOf = (env: NodeJS.ProcessEnv): number => {
  const told = Number(env.COLUMNS);
  if (Number.isInteger(told) && told >= 20) return told;
  return process.stdout.columns ?? DEFAULT_WIDTH;
};

/** The colours of text: what the words' tones mean, and one for what is protected. */
export type PaintTone = WordTone | 'info';

const CODES: Readonly<Record<PaintTone, string>> = {
  plain: '',
  faint: '2',
  strong: '1',
  good: '32',
  warn: '33',
  bad: '1;31',
  info: '36',
};

export type Paint = (text: string, tone: PaintTone) => string;

export const painter = (color: boolean): Paint =>
  color ? (text, tone) => inStyle(text, CODES[tone]) : text => text;

/** Colour only on a terminal, and unless NO_COLOR or a flag forbids it. */
export const wantsColor = (
  stream: { readonly isTTY?: boolean },
  env: NodeJS.ProcessEnv,
  noColor: boolean,
): boolean => stream.isTTY === true && !noColor && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';

export const VERDICT_TONE: Readonly<Record<Verdict, PaintTone>> = {
  live: 'good',
  leak: 'bad',
  suspect: 'warn',
  protected: 'info',
  unknown: 'faint',
};

export const EXIT_FAILURE = 1;
export const EXIT_USAGE = 2;
export const EXIT_FAIL_ON = 3;
export const EXIT_SURVIVED = 4;
/** EX_TEMPFAIL: try again later. */
export const EXIT_LOCKED = 75;
export const EXIT_INTERRUPTED = 130;

/** Exit codes; the manual has the same table. */
export const EXIT_CODES: readonly (readonly [code: number, meaning: string])[] = [
  [0, 'fine'],
  [EXIT_FAILURE, 'failure (the process list could not be read, another clean-up is running)'],
  [EXIT_USAGE, 'usage: one sentence and the usage line; also an unreadable file or an invalid config'],
  [EXIT_FAIL_ON, '`--fail-on SEVERITY` was met'],
  [EXIT_SURVIVED, 'something in the plan survived, or the system forbade it'],
  [EXIT_LOCKED, '`exclusive`: the lock could not be taken; else it exits as its command does'],
  [EXIT_INTERRUPTED, 'Ctrl-C'],
];
