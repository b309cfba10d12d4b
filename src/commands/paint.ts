import { inStyle } from '../model/sgr.ts';
import type { Verdict } from '../model/snapshot.ts';
import type { Tone as WordTone } from '../words/tones.ts';

/** The colours of text: what the words' tones mean, and one for what is protected. */
export type Tone = WordTone | 'info';

const CODES: Readonly<Record<Tone, string>> = {
  plain: '',
  faint: '2',
  strong: '1',
  good: '32',
  warn: '33',
  bad: '1;31',
  info: '36',
};

export type Paint = (text: string, tone: Tone) => string;

export const painter = (color: boolean): Paint =>
  color ? (text, tone) => inStyle(text, CODES[tone]) : text => text;

/** Colour only where a terminal shows it and nobody asked for none. */
export const wantsColor = (
  stream: { readonly isTTY?: boolean },
  env: NodeJS.ProcessEnv,
  noColor: boolean,
): boolean => stream.isTTY === true && !noColor && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';

export const VERDICT_TONE: Readonly<Record<Verdict, Tone>> = {
  live: 'good',
  leak: 'bad',
  suspect: 'warn',
  protected: 'info',
  unknown: 'faint',
};
