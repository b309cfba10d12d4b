import type { PastMoment } from '../../live/live.ts';
import { formatMoment } from '../../model/format.ts';
import type { Mark, MarkKind } from '../../model/mark.ts';
import { cells } from '../../model/width.ts';
import type { Tone } from '../look/theme.ts';
import { type Line, lineToWidth, run } from '../view/line.ts';

/** Half an hour to each side: an hour is what one looks through after a bad night. */
const HALF_MS = 30 * 60_000;
/** A picture every ten seconds: a mark this close is of the moment shown. */
const AT_MARK_MS = 15_000;

const LOOKS = {
  leak: { letter: 'L', tone: 'leak' },
  ended: { letter: 'E', tone: 'good' },
  silent: { letter: 'S', tone: 'warn' },
  peak: { letter: 'M', tone: 'warn' },
  oom: { letter: 'O', tone: 'bad' },
  boot: { letter: 'B', tone: 'strong' },
} as const satisfies Record<MarkKind, { readonly letter: string; readonly tone: Tone }>;

/** Marks that matter more hide those that matter less where both fall on one cell. */
const WEIGHT: readonly MarkKind[] = ['ended', 'peak', 'silent', 'leak', 'boot', 'oom'];

const clock = (at: number): string => formatMoment(at).slice(11, 16);

/** The hour around the moment: where it is, what happened when, and what happened there. */
export const timeLine = ({ at, marks, note }: PastMoment, width: number): Line => {
  const [from, to] = [at - HALF_MS, at + HALF_MS];
  const left = ` ${clock(from)} `;
  const right = ` ${clock(to)}  `;
  const here = marks.findLast(mark => Math.abs(mark.at - at) <= AT_MARK_MS);
  const told = note ?? here?.text ?? '';
  const room = Math.max(10, Math.min(60, width - cells(left) - cells(right) - Math.min(cells(told), 40)));
  const slots: (Mark | null)[] = Array.from({ length: room }, () => null);
  for (const mark of marks) {
    if (mark.at < from || mark.at >= to) continue;
    const slot = Math.floor(((mark.at - from) / (to - from)) * room);
    const known = slots[slot] ?? null;
    if (known === null || WEIGHT.indexOf(mark.mark) >= WEIGHT.indexOf(known.mark)) slots[slot] = mark;
  }
  const middle = Math.floor(room / 2);
  const line = slots.map((mark, slot) => {
    if (slot === middle) return run('|', 'title');
    return mark === null ? run('-', 'faint') : run(LOOKS[mark.mark].letter, LOOKS[mark.mark].tone);
  });
  return lineToWidth([run(left, 'faint'), ...line, run(right, 'faint'), run(told, 'plain')], width);
};
