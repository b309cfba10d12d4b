/** What a postflight marker says that decides about a stop. */
export interface MarkerText {
  readonly reason: string | null;
  readonly wayOut: boolean;
  /** As written; whoever knows times reads it. */
  readonly created: string | null;
}

const NOT_FILLED_IN = /^\$\{?\w+\}?$/;

const worded = (value: unknown): string | null => {
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' || text === 'null' || NOT_FILLED_IN.test(text) ? null : text;
};

/** Many markers come from a heredoc that was never filled in and are no JSON: their plain pairs still tell. */
const pair = (text: string, name: string): string | null =>
  worded(new RegExp(`"${name}"\\s*:\\s*"([^"\\\\]{0,400})"`).exec(text)?.[1]);

export const readMarker = (text: string): MarkerText => {
  // The seeds' hook looks for these very letters, in JSON or not.
  const wayOut = text.includes('"stop_hook_active": true');
  try {
    const value: unknown = JSON.parse(text);
    const fields = (typeof value === 'object' && value !== null ? value : {}) as Readonly<
      Record<string, unknown>
    >;
    return {
      reason: worded(fields.reason),
      wayOut: wayOut || fields.stop_hook_active === true,
      created: worded(fields.created),
    };
  } catch {
    return { reason: pair(text, 'reason'), wayOut, created: pair(text, 'created') };
  }
};

/** The loop guard is a bare number; null for anything else. */
export const readGuard = (text: string): number | null => {
  const digits = /^\s*(\d{1,9})\s*$/.exec(text)?.[1];
  return digits === undefined ? null : Number(digits);
};
