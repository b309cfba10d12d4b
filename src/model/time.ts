const EARLIEST = Date.UTC(2000, 0, 1);
const LATEST = Date.UTC(2100, 0, 1);

/** A time outside this century is a broken clock or a number that means something else. */
const plausible = (ms: number): number | null =>
  Number.isFinite(ms) && ms >= EARLIEST && ms < LATEST ? Math.floor(ms) : null;

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?\s*(Z|UTC|[+-]\d{2}(?::?\d{2})?)?$/i;

const offsetMinutes = (zone: string): number => {
  if (/^(?:Z|UTC)$/i.test(zone)) return 0;
  const [, sign, hours, minutes = '0'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
};

/** ISO 8601 as `date -Iseconds`, `date -u`, jq and Python write it. Without an offset it is local time. */
const parseIso = (text: string): number | null => {
  const match = ISO.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '0', zone] = match;
  const parts = [
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  ] as const;
  const ms = Math.floor(Number(`0.${fraction}`) * 1000);
  const utc = new Date(Date.UTC(...parts));
  // 31 February must not become a day in March.
  if (utc.getUTCMonth() !== parts[1] || utc.getUTCDate() !== parts[2] || utc.getUTCHours() !== parts[3])
    return null;
  if (zone === undefined) return plausible(new Date(...parts).getTime() + ms);
  return plausible(utc.getTime() + ms - offsetMinutes(zone) * 60_000);
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
  if (format === 'iso-local') return parseIso(text.replace(/(?:Z|UTC|[+-]\d{2}:?\d{2})$/i, ''));
  // `date` without options, RFC 2822: rare, but an LLM writes them. A year must be there to guess at all.
  return (
    parseIso(text) ?? (/[a-z]{3}/i.test(text) && /\b\d{4}\b/.test(text) ? plausible(Date.parse(text)) : null)
  );
};
