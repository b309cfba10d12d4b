const UNITS = ['B', 'K', 'M', 'G', 'T', 'P'] as const;

/** `0`, `412K`, `1.2G`: at most five cells, coarse so that it does not flicker between refreshes. */
export const formatBytes = (bytes: number | null): string => {
  if (bytes === null) return '-';
  if (bytes < 1024) return bytes === 0 ? '0' : `${Math.round(bytes)}B`;
  let value = bytes;
  let unit = 0;
  // 999.5 and not 1024, so that four digits never appear: 1000K is shown as 1.0M.
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)}${UNITS[unit]}`;
};

/** `3.1 GiB`, for sentences. */
export const spellBytes = (bytes: number): string => {
  if (bytes < 1024) return `${Math.round(bytes)} B`;
  let value = bytes;
  let unit = 0;
  while (value >= 1023.95 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value < 99.95 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}iB`;
};

/** `42s`, `7m`, `3h12m`, `5d03h`: two units at most. */
export const formatAge = (seconds: number | null): string => {
  if (seconds === null) return '-';
  const s = Math.max(0, Math.floor(seconds));
  const pad = (n: number): string => String(n).padStart(2, '0');
  if (s < 60) return `${s}s`;
  if (s < 3600) return `${Math.floor(s / 60)}m`;
  if (s < 86_400) return `${Math.floor(s / 3600)}h${pad(Math.floor((s % 3600) / 60))}m`;
  if (s < 100 * 86_400) return `${Math.floor(s / 86_400)}d${pad(Math.floor((s % 86_400) / 3600))}h`;
  return `${Math.floor(s / 86_400)}d`;
};

export const plural = (count: number, noun: string, many = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : many}`;

/** `2026-11-16 03:10:20` on the clock on the wall. */
export const formatMoment = (at: number): string => {
  const date = new Date(at);
  const pad = (n: number): string => String(n).padStart(2, '0');
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return `${day} ${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
};
