/** Reading values that may have any type: the JSON comes from people, scripts and older versions. */
export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const textAt = (fields: Fields, ...names: string[]): string | null => {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === 'string') return value;
    if (typeof value === 'number') return String(value);
  }
  return null;
};

/** A finite number, or a text that is one. */
export const numberAt = (fields: Fields, ...names: string[]): number | null => {
  for (const name of names) {
    const value = fields[name];
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof number === 'number' && Number.isFinite(number)) return number;
  }
  return null;
};

export const objectAt = (fields: Fields, name: string): Fields | null => {
  const value = fields[name];
  return isFields(value) ? value : null;
};
