import type { Mark } from './report.ts';

const EARLIEST = Date.UTC(2000, 0, 1);
const LATEST = Date.UTC(2100, 0, 1);

/** A time outside this century is a broken clock or a number that means something else. */
const plausible = (ms: number): number | null =>
  Number.isFinite(ms) && ms >= EARLIEST && ms < LATEST ? Math.floor(ms) : null;

const believed = (ms: number | null): number | null => (ms === null ? null : plausible(ms));

/** With or without marks between the parts: `2026-01-15T09:30:00Z`, and `20260115T0930Z` as file names have it. */
const ISO =
  /^(\d{4})(?:-(\d{2})-(\d{2})|(\d{2})(\d{2})(?=T))(?:[T ](\d{2})(?::?(\d{2})(?::?(\d{2})(?:[.,](\d{1,9}))?)?)?)?\s*(Z|UTC|[+-]\d{2}(?::?\d{2})?)?$/i;

/** `Fri Feb  6 12:52:44 2026` as `ps` and `date` print it, and day before month as some locales have it. */
const CALENDAR =
  /^\S+\s+(?:([a-z]+)\s+(\d{1,2})|(\d{1,2})\s+([a-z]+))\s+(\d\d):(\d\d):(\d\d)\s+(\d{4})\s*(UTC)?$/i;

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** 0 is January, -1 no month. */
export const monthOf = (name: string): number => MONTHS.indexOf(name.slice(0, 3).toLowerCase());

type Parts = readonly [
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
];

const offsetMinutes = (zone: string): number => {
  if (/^(?:Z|UTC)$/i.test(zone)) return 0;
  const [, sign, hours, minutes = '0'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
};

const epochOf = (parts: Parts, zone: string | undefined): number | null => {
  const utc = new Date(Date.UTC(...parts));
  // 31 February must not become a day in March.
  if (utc.getUTCMonth() !== parts[1] || utc.getUTCDate() !== parts[2] || utc.getUTCHours() !== parts[3])
    return null;
  if (zone === undefined) return new Date(...parts).getTime();
  return utc.getTime() - offsetMinutes(zone) * 60_000;
};

/** ISO 8601 as `date -Iseconds`, `date -u`, jq and Python write it. Without an offset it is local time. */
export const parseIso = (text: string): number | null => {
  const match = ISO.exec(text);
  if (match === null) return null;
  const [, year, month, day, month2, day2, hour = '0', minute = '0', second = '0', fraction = '0', zone] =
    match;
  const date = [Number(year), Number(month ?? month2) - 1, Number(day ?? day2)] as const;
  const at = epochOf([...date, Number(hour), Number(minute), Number(second)], zone);
  return at === null ? null : at + Math.floor(Number(`0.${fraction}`) * 1000);
};

/** A date and time in full, of any year: who trusts the writer, as with `ps`, must not lose a machine whose clock is off. */
export const parseDate = (text: string): number | null => {
  const match = CALENDAR.exec(text);
  if (match === null) return parseIso(text);
  const [, month, day, day2, month2, hour, minute, second, year, zone] = match;
  const date = [Number(year), monthOf(month ?? month2!), Number(day ?? day2)] as const;
  return date[1] === -1 ? null : epochOf([...date, Number(hour), Number(minute), Number(second)], zone);
};

/** Seconds or milliseconds: whichever falls into this century, and no number falls there twice. */
const parseEpoch = (value: number): number | null => plausible(value * 1000) ?? plausible(value);

export type TimeFormat = 'auto' | 'iso' | 'iso-local' | 'epoch-s' | 'epoch-ms';

/** Epoch milliseconds of whatever was written as a time; null when it is none. */
export const parseTime = (value: unknown, format: TimeFormat = 'auto'): number | null => {
  if (typeof value === 'number') {
    if (format === 'epoch-s') return plausible(value * 1000);
    if (format === 'epoch-ms') return plausible(value);
    return format === 'auto' ? parseEpoch(value) : null;
  }
  if (typeof value !== 'string' || value.length > 80) return null;
  const text = value.trim();
  if (/^\d{9,16}(?:\.\d+)?$/.test(text)) return parseTime(Number(text), format);
  if (format === 'epoch-s' || format === 'epoch-ms') return null;
  if (format === 'iso-local') return believed(parseIso(text.replace(/(?:Z|UTC|[+-]\d{2}:?\d{2})$/i, '')));
  // `date` without options, RFC 2822: rare, but an LLM writes them. A year must be there to guess at all.
  return (
    believed(parseIso(text)) ??
    (/[a-z]{3}/i.test(text) && /\b\d{4}\b/.test(text) ? plausible(Date.parse(text)) : null)
  );
};

const DAY_SECONDS = 86_400;
const UNIT_SECONDS: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3600,
  d: DAY_SECONDS,
  w: 7 * DAY_SECONDS,
};

/** Seconds, however long people write it: `2h30m`, `4d 01h`, `~5.5 h`, `6 min`. */
export const parseSpokenAge = (text: string): number | null => {
  const parts = [
    ...text.matchAll(/(\d+(?:\.\d+)?)\s*([smhdw])(?:ec|in|ours?|r|ays?|econds?|inutes?|eeks?)?s?(?![a-z])/gi),
  ];
  if (parts.length === 0) return null;
  return parts.reduce((sum, part) => sum + Number(part[1]) * UNIT_SECONDS[part[2]!.toLowerCase()]!, 0);
};

/** `[[dd-]hh:]mm:ss[.cc]` as ps prints it, or plain seconds. */
export const parseElapsed = (text: string): number | null => {
  if (/^\d+$/.test(text)) return Number(text);
  const m = /^(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+(?:\.\d+)?)$/.exec(text);
  if (m === null) return null;
  const [, days = '0', hours = '0', minutes, seconds] = m;
  return Number(days) * DAY_SECONDS + Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
};

/** The last such time of day that is not after `latest`, on the clock on the wall. */
export const lastTimeOfDay = (
  [hour, minute, second = 0]: readonly [hour: number, minute: number, second?: number],
  latest: number,
  day: number = latest,
): number | null => {
  if (hour > 23 || minute > 59 || second > 59) return null;
  const date = new Date(day);
  date.setHours(hour, minute, second, 0);
  if (date.getTime() > latest) date.setDate(date.getDate() - 1);
  return date.getTime();
};

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
