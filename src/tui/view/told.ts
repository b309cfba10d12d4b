import { cut } from '../../model/text.ts';
import { wrap } from '../../words/wrap.ts';
import type { Tone } from '../look/theme.ts';
import type { Screen } from './screen.ts';

/** More rows than this no sentence gets: what it covers matters as well. */
const MOST_ROWS = 3;

type Telling = Pick<Screen, 'view' | 'state' | 'layout' | 'glyphs'>;

/** What the footer has to say in place of the keys. */
export const toldOf = ({
  view,
  state,
}: Pick<Screen, 'view' | 'state'>): { text: string; tone: Tone } | null =>
  view.notice ?? (state.error === null ? null : { text: state.error, tone: 'bad' });

/** It in rows: a reason that is cut before its end is none. */
export const toldRows = (screen: Telling): readonly string[] => {
  const { columns, rows, headerRows } = screen.layout;
  const told = toldOf(screen);
  if (told === null) return [];
  const room = Math.max(1, columns - 2);
  const most = Math.max(1, Math.min(MOST_ROWS, rows - headerRows - 2));
  const all = wrap(told.text, room);
  if (all.length <= most) return all;
  return [...all.slice(0, most - 1), cut(all.slice(most - 1).join(' '), room, screen.glyphs.ellipsis)];
};
