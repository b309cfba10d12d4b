import { Box } from 'ink';
import type { ReactNode } from 'react';
import { Body } from './components/body.tsx';
import { Footer } from './components/footer.tsx';
import { Header } from './components/header.tsx';
import { OVERLAYS } from './components/overlays.tsx';
import { Caption, Panel } from './components/panel.tsx';
import { StoreContext, ThemeContext, useScreen } from './components/use-screen.ts';
import type { ScreenStore } from './view/screen.ts';
import { toldRows } from './view/told.ts';

const Page = (): ReactNode => {
  const columns = useScreen(({ layout }) => layout.columns);
  const rows = useScreen(({ layout }) => layout.rows);
  const hasPanel = useScreen(({ layout }) => layout.panelRows > 0);
  const overlay = useScreen(({ view }) => view.overlay?.kind ?? null);
  const told = useScreen(screen => toldRows(screen).length);
  const Overlay = overlay && OVERLAYS[overlay];
  return (
    <Box flexDirection="column" width={columns} height={rows}>
      <Header />
      {/* A long sentence of the footer covers the last rows for a moment; nothing moves for it. */}
      <Box flexDirection="column" flexGrow={1} overflowY={told > 1 ? 'hidden' : 'visible'}>
        {Overlay ? (
          <Overlay />
        ) : (
          <>
            <Body />
            <Caption />
            {hasPanel && <Panel />}
          </>
        )}
      </Box>
      <Footer />
    </Box>
  );
};

const Themed = (): ReactNode => (
  <ThemeContext value={useScreen(({ theme }) => theme)}>
    <Page />
  </ThemeContext>
);

/** The screen. Each region reads its part of the store and renders again only when that part changed. */
export const App = ({ store }: { readonly store: ScreenStore }): ReactNode => (
  <StoreContext value={store}>
    <Themed />
  </StoreContext>
);
