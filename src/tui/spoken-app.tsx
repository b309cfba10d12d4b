import { Box, Text } from 'ink';
import type { ReactNode } from 'react';
import { StoreContext, useScreen } from './components/use-screen.ts';
import { spokenLines } from './content/spoken.ts';
import type { ScreenStore } from './view/screen.ts';

const keepSame = (old: readonly string[], fresh: readonly string[]): readonly string[] =>
  old.length === fresh.length && old.every((line, i) => line === fresh[i]) ? old : fresh;

const Sentences = (): ReactNode => (
  <Box flexDirection="column">
    {useScreen(spokenLines, keepSame).map((line, place) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity of their own, their place is it
      <Text key={place}>{line}</Text>
    ))}
  </Box>
);

/** For screen readers: sentences in a list, no columns, no lines drawn with characters. */
export const SpokenApp = ({ store }: { readonly store: ScreenStore }): ReactNode => (
  <StoreContext value={store}>
    <Sentences />
  </StoreContext>
);
