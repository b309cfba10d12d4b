import { Box, Text } from 'ink';
import { type ReactNode, useSyncExternalStore } from 'react';
import type { Controller } from './controller.ts';
import { spokenLines } from './view/spoken-lines.ts';

/** For screen readers: sentences in a list, no columns, no lines drawn with characters. */
export const SpokenApp = ({ controller }: { readonly controller: Controller }): ReactNode => {
  useSyncExternalStore(controller.subscribe, controller.getFrame);
  return (
    <Box flexDirection="column">
      {spokenLines(controller.screen).map((line, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity of their own, their place is it
        <Text key={i}>{line}</Text>
      ))}
    </Box>
  );
};
