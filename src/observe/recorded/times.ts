const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const DAY = 86_400;

/** `[[dd-]hh:]mm:ss[.cc]`, or plain seconds as ETIMES prints them. */
export const parseElapsed = (text: string): number | null => {
  if (/^\d+$/.test(text)) return Number(text);
  const m = /^(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+(?:\.\d+)?)$/.exec(text);
  if (m === null) return null;
  const [, days = '0', hours = '0', minutes, seconds] = m;
  return Number(days) * DAY + Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
};

const UNIT: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: DAY, w: 7 * DAY };

/** How people write an age: `4d 01h`, `~5.5 h`, `6 min`. */
export const parseSpokenAge = (text: string): number | null => {
  const parts = [
    ...text.matchAll(/(\d+(?:\.\d+)?)\s*([smhdw])(?:ec|in|ours?|r|ays?|econds?|inutes?|eeks?)?s?\b/gi),
  ];
  if (parts.length === 0) return null;
  return parts.reduce((sum, part) => sum + Number(part[1]) * UNIT[part[2]!.toLowerCase()]!, 0);
};

const month = (name: string): number => MONTHS.indexOf(name.slice(0, 3).toLowerCase());

const clockTime = (text: string): { hour: number; minute: number } | null => {
  const m = /^(\d{1,2})(?::(\d\d))?(AM|PM)?$/i.exec(text);
  if (m === null || (m[2] === undefined && m[3] === undefined)) return null;
  const half = m[3]?.toUpperCase();
  const hour = half === undefined ? Number(m[1]) : (Number(m[1]) % 12) + (half === 'PM' ? 12 : 0);
  return hour < 24 ? { hour, minute: Number(m[2] ?? 0) } : null;
};

const seconds = (date: Date): number | null =>
  Number.isNaN(date.getTime()) ? null : Math.floor(date.getTime() / 1000);

/** Listings and our clock may disagree by a little. */
const SLACK = 300;

/** A point given without its day or year is the last such point before `clock`. */
const notAfter = (date: Date, clock: number, back: (date: Date) => void): number | null => {
  if (date.getTime() / 1000 > clock + SLACK) back(date);
  return seconds(date);
};

/** The full form with its own year, as LSTART prints it; ISO dates too. */
export const parseFullStart = (text: string): number | null => {
  const iso = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)/.exec(text);
  if (iso !== null) {
    const [y, mo, d, h, mi, s] = iso.slice(1).map(Number) as [number, number, number, number, number, number];
    return seconds(/[Zz]$|[+-]\d\d:?\d\d$/.test(text) ? new Date(text) : new Date(y, mo - 1, d, h, mi, s));
  }
  // `Fri Feb  6 12:52:44 2026`, and day before month as some locales have it.
  const m =
    /^\S+\s+(?:([A-Za-z]+)\s+(\d{1,2})|(\d{1,2})\s+([A-Za-z]+))\s+(\d\d):(\d\d):(\d\d)\s+(\d{4})$/.exec(text);
  if (m === null) return null;
  const mo = month(m[1] ?? m[4]!);
  if (mo === -1) return null;
  return seconds(new Date(Number(m[8]), mo, Number(m[2] ?? m[3]), Number(m[5]), Number(m[6]), Number(m[7])));
};

/**
 * START, STARTED and STIME in their short forms, on the clock of the listing (epoch seconds, local time):
 * `13:02`, `12:53PM`, `Sat09AM`, `Feb13`, `Feb 13`, `13Feb26`. A bare year says too little.
 */
export const parseStart = (text: string, clock: number): number | null => {
  const full = parseFullStart(text);
  if (full !== null) return full;
  const now = new Date(clock * 1000);
  const time = clockTime(text);
  if (time !== null) {
    const date = new Date(now);
    date.setHours(time.hour, time.minute, 0, 0);
    return notAfter(date, clock, d => d.setDate(d.getDate() - 1));
  }
  const weekday = /^([A-Za-z]{3})(\d{1,2}(?::\d\d)?(?:AM|PM)?)$/i.exec(text);
  const day = weekday === null ? -1 : DAYS.indexOf(weekday[1]!.toLowerCase());
  const at =
    weekday === null || day === -1
      ? null
      : clockTime(/[:M]/i.test(weekday[2]!) ? weekday[2]! : `${weekday[2]}:00`);
  if (at !== null) {
    const date = new Date(now);
    date.setDate(date.getDate() - ((date.getDay() - day + 7) % 7));
    date.setHours(at.hour, at.minute, 0, 0);
    return notAfter(date, clock, d => d.setDate(d.getDate() - 7));
  }
  const dated = /^(?:([A-Za-z]{3})\s*(\d{1,2})|(\d{1,2})\s*([A-Za-z]{3})(\d\d)?)$/.exec(text);
  const mo = dated === null ? -1 : month(dated[1] ?? dated[4]!);
  if (dated === null || mo === -1) return null;
  if (dated[5] !== undefined) return seconds(new Date(2000 + Number(dated[5]), mo, Number(dated[3])));
  const date = new Date(now.getFullYear(), mo, Number(dated[2] ?? dated[3]));
  return notAfter(date, clock, d => d.setFullYear(d.getFullYear() - 1));
};
