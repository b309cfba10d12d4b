import { Box } from 'ink';
import type { ReactNode } from 'react';
import { Body } from './components/body.tsx';
import { Footer } from './components/footer.tsx';
import { Header } from './components/header.tsx';
import { OVERLAYS } from './components/overlays.tsx';
import { Caption, Panel } from './components/panel.tsx';
import { StoreContext, ThemeContext, useScreen } from './components/use-screen.ts';
import type { ScreenStore } from './view/screen.ts';

const Page = (): ReactNode => {
  const columns = useScreen(({ layout }) => layout.columns);
  const rows = useScreen(({ layout }) => layout.rows);
  const hasPanel = useScreen(({ layout }) => layout.panelRows > 0);
  const overlay = useScreen(({ view }) => view.overlay?.kind ?? null);
  const Overlay = overlay && OVERLAYS[overlay];
  return (
    <Box flexDirection="column" width={columns} height={rows}>
      <Header />
      {Overlay ? (
        <Overlay />
      ) : (
        <>
          <Body />
          <Caption />
          {hasPanel && <Panel />}
        </>
      )}
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
