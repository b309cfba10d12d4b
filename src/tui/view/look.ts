import type { ColumnId, Settings, ThemeChoice, ThemeName } from '../../model/look.ts';
import type { Background } from '../terminal/background.ts';

/** How the screen looks now: what the config says until the setup screen changes it. */
export interface Look {
  readonly theme: ThemeChoice;
  readonly columns: readonly ColumnId[] | null;
  readonly mouse: boolean;
  /** What the terminal or the environment tells; null: nothing. */
  readonly background: Background | null;
}

export const lookOf = (
  { theme, columns, mouse }: Omit<Settings, 'interval'>,
  background: Background | null,
): Look => ({ theme, columns, mouse, background });

/** Most terminals are dark: that is what nothing told means. */
export const themeNameOf = ({ theme, background }: Look): ThemeName =>
  theme === 'auto' ? (background === 'light' ? 'light' : 'default') : theme;
