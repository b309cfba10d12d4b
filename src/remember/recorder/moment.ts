import type { Mark } from '../../model/mark.ts';

/** What `--at` names. */
export type Asked = { readonly at: number } | { readonly mark: 'boot' | 'oom' };

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const BACK = /^-((?:\d+(?:\.\d+)?[smhd])+)$/;
const TIME_OF_DAY = /^(\d{1,2}):(\d\d)(?::(\d\d))?$/;
const ISO = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/i;

export const ALLOWED = 'HH:MM, a time back such as -2h or -90m, an ISO date and time, boot, or oom';

/** A time of day is its last occurrence before now, on the clock on the wall; null when it is none of what is allowed. */
export const parseMoment = (text: string, now: number): Asked | null => {
  if (text === 'boot' || text === 'oom') return { mark: text };
  const back = BACK.exec(text)?.[1];
  if (back !== undefined) {
    const parts = [...back.matchAll(/(\d+(?:\.\d+)?)([smhd])/g)];
    return within(parts.reduce((at, [, count, unit]) => at - Number(count) * UNIT_MS[unit!]!, now));
  }
  const [, hour, minute, second = '0'] = TIME_OF_DAY.exec(text) ?? [];
  if (hour !== undefined) {
    if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
    const date = new Date(now);
    date.setHours(Number(hour), Number(minute), Number(second), 0);
    if (date.getTime() > now) date.setDate(date.getDate() - 1);
    return within(date.getTime());
  }
  const [, day, time = '00:00', seconds = ':00', zone = ''] = ISO.exec(text) ?? [];
  return day === undefined ? null : within(Date.parse(`${day}T${time}${seconds}${zone.toUpperCase()}`));
};

const within = (at: number): Asked | null => (Number.isFinite(at) && Math.abs(at) <= 8.64e15 ? { at } : null);

/** The moment itself: the last of such marks, or when this machine started. */
export const momentAsked = (asked: Asked, marks: readonly Mark[], bootedAt: number): number | null => {
  if ('at' in asked) return asked.at;
  const last = marks.findLast(({ mark }) => mark === asked.mark);
  return last?.at ?? (asked.mark === 'boot' ? bootedAt : null);
};
