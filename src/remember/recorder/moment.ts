import type { Mark } from '../../model/mark.ts';
import { lastTimeOfDay, parseIso, parseSpokenAge } from '../../model/time.ts';

/** What `--at` names. */
export type Asked = { readonly at: number } | { readonly mark: 'boot' | 'oom' };

const BACK = /^-((?:\d+(?:\.\d+)?[smhd])+)$/;
const TIME_OF_DAY = /^(\d{1,2}):(\d\d)(?::(\d\d))?$/;

export const ALLOWED = 'HH:MM, a time back such as -2h or -90m, an ISO date and time, boot, or oom';

/** A time of day is its last occurrence before now, on the clock on the wall; null when it is none of what is allowed. */
export const parseMoment = (text: string, now: number): Asked | null => {
  if (text === 'boot' || text === 'oom') return { mark: text };
  const back = BACK.exec(text)?.[1];
  if (back !== undefined) return within(now - (parseSpokenAge(back) ?? Number.NaN) * 1000);
  const [, hour, minute, second = '0'] = TIME_OF_DAY.exec(text) ?? [];
  return within(
    hour === undefined ? parseIso(text) : lastTimeOfDay([Number(hour), Number(minute), Number(second)], now),
  );
};

const within = (at: number | null): Asked | null =>
  at !== null && Number.isFinite(at) && Math.abs(at) <= 8.64e15 ? { at } : null;

/** The moment itself: the last of such marks, or when this machine started. */
export const momentAsked = (asked: Asked, marks: readonly Mark[], bootedAt: number): number | null => {
  if ('at' in asked) return asked.at;
  const last = marks.findLast(({ mark }) => mark === asked.mark);
  return last?.at ?? (asked.mark === 'boot' ? bootedAt : null);
};
