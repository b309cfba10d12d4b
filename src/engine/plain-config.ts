import type { Level } from '../model/ui-settings.ts';
import { COLUMN_IDS, INTERVAL_BOUNDS, LEVELS, THEME_CHOICES, type UiSettings } from '../model/ui-settings.ts';

type Plain = Partial<UiSettings> & { readonly level?: Level };

const among =
  (choices: readonly unknown[]) =>
  (value: unknown): boolean =>
    choices.includes(value);

/** What the setup screen saves, and the level. */
const VALID: Readonly<Record<string, (value: unknown) => boolean>> = {
  theme: among(THEME_CHOICES),
  level: among(LEVELS),
  mouse: value => typeof value === 'boolean',
  columns: value => value === null || (Array.isArray(value) && value.every(among(COLUMN_IDS))),
  interval: value => typeof value === 'number' && value >= INTERVAL_BOUNDS[0] && value <= INTERVAL_BOUNDS[1],
};

/**
 * A config of nothing but valid settings of the screen, as most are. Null: anything else, which the schema reads, with its
 * messages; to load that takes 25 ms, half a start.
 */
export const plainConfig = (text: string): Plain | null => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return null; // the schema says what is wrong
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return null;
  const isPlain = Object.entries(parsed).every(
    ([name, value]) => Object.hasOwn(VALID, name) && VALID[name]!(value),
  );
  return isPlain ? (parsed as Plain) : null;
};
