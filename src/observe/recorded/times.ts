import { lastTimeOfDay, monthOf, parseDate } from '../../model/time.ts';

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

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
  const at = parseDate(text);
  return at === null ? null : Math.floor(at / 1000);
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
    const at = lastTimeOfDay([time.hour, time.minute], (clock + SLACK) * 1000, clock * 1000);
    return at === null ? null : at / 1000;
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
  const mo = dated === null ? -1 : monthOf(dated[1] ?? dated[4]!);
  if (dated === null || mo === -1) return null;
  if (dated[5] !== undefined) return seconds(new Date(2000 + Number(dated[5]), mo, Number(dated[3])));
  const date = new Date(now.getFullYear(), mo, Number(dated[2] ?? dated[3]));
  return notAfter(date, clock, d => d.setFullYear(d.getFullYear() - 1));
};
