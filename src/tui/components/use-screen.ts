import { createContext, useContext, useRef, useSyncExternalStore } from 'react';
import { THEMES, type Theme } from '../look/theme.ts';
import { keepSame, type Line } from '../view/line.ts';
import type { Screen, ScreenStore } from '../view/screen.ts';

export const StoreContext = createContext<ScreenStore | null>(null);
export const ThemeContext = createContext<Theme>(THEMES.default);

/**
 * A part of the screen. The component renders again only when its part is another one: `keep` may answer with the old
 * value where the new one says the same.
 */
export const useScreen = <Part>(
  select: (screen: Screen) => Part,
  keep: (old: Part, fresh: Part) => Part = (_, fresh) => fresh,
): Part => {
  const store = useContext(StoreContext);
  if (store === null) throw new Error('a component of the screen needs a store around it');
  const known = useRef<{ readonly screen: Screen; readonly part: Part } | null>(null);
  return useSyncExternalStore(store.subscribe, () => {
    const screen = store.getScreen();
    const last = known.current;
    if (last?.screen === screen) return last.part;
    const fresh = select(screen);
    const part = last ? keep(last.part, fresh) : fresh;
    known.current = { screen, part };
    return part;
  });
};

/** The lines of a region; a line that did not change is the same object as before, so that its row does nothing. */
export const useLines = (select: (screen: Screen) => readonly Line[]): readonly Line[] =>
  useScreen(select, keepSame);
