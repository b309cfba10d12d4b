import { Box } from 'ink';
import type { FC, ReactNode } from 'react';
import { Detail, DetailBeside } from './detail/detail.tsx';
import { ExportQuestion } from './export.tsx';
import { Footer, noticeRows } from './footer.tsx';
import { Header } from './header.tsx';
import { Help } from './help/help.tsx';
import type { Input } from './keys/input.ts';
import { InputContext, useKeys } from './keys/use-keys.ts';
import { MAIN_KEYS } from './main-keys.ts';
import { LogEntrySheet } from './panels/log-entry.tsx';
import { Panel } from './panels/panel.tsx';
import { Planning, PlanSheet, Running } from './plan/plan.tsx';
import type { ScreenStore } from './screen.ts';
import { Setup } from './setup/setup.tsx';
import { Signals } from './signals.tsx';
import type { Overlay } from './state.ts';
import { TreeView } from './tree/tree.tsx';
import { arrangementOf, coversBody } from './ui/layout.ts';
import { EllipsisContext, StoreContext, ThemeContext, useScreen } from './ui/use-screen.ts';

/** What asks for attention over the main screen. */
const OVERLAYS = {
  planning: Planning,
  plan: PlanSheet,
  running: Running,
  signals: Signals,
  setup: Setup,
  export: ExportQuestion,
  entry: LogEntrySheet,
  help: Help,
} satisfies Record<Overlay['kind'], FC>;

/** The tree and the detail pane as the size of the screen allows, and the panel below them. */
const Main = (): ReactNode => {
  const layout = useScreen(screen => screen.layout);
  const arrangement = useScreen(screen => arrangementOf(screen.layout, screen.view));
  return (
    <>
      <Box
        flexDirection={arrangement === 'tree beside detail' ? 'row' : 'column'}
        flexGrow={1}
        flexShrink={0}
      >
        {arrangement.startsWith('tree') && <TreeView />}
        {arrangement === 'panel' && <Panel rows={layout.treeRows + (layout.columnRow ? 1 : 0) - 1} />}
        {arrangement === 'tree beside detail' && <DetailBeside />}
        {(arrangement === 'detail' || arrangement === 'tree above detail') && <Detail />}
      </Box>
      {layout.panelRows > 0 && <Panel rows={layout.panelRows} />}
    </>
  );
};

const Page = (): ReactNode => {
  const screen = useScreen();
  const { layout, view } = screen;
  useKeys('main', MAIN_KEYS);
  const Overlay = view.overlay && OVERLAYS[view.overlay.kind];
  return (
    <Box flexDirection="column" width={layout.columns} height={layout.rows}>
      <Header />
      {/* A long sentence of the footer covers the last rows for a moment; nothing moves for it. */}
      <Box
        flexDirection="column"
        flexGrow={1}
        overflowY={noticeRows(screen).length > 1 ? 'hidden' : 'visible'}
      >
        {!coversBody(view.overlay) && <Main />}
        {Overlay && <Overlay />}
      </Box>
      <Footer />
    </Box>
  );
};

const Themed = ({ children }: { readonly children: ReactNode }): ReactNode => (
  <ThemeContext value={useScreen(({ theme }) => theme)}>
    <EllipsisContext value={useScreen(({ glyphs }) => glyphs.ellipsis)}>{children}</EllipsisContext>
  </ThemeContext>
);

/** The screen. `store` is what it shows, `input` gives its components their keys and the mouse. */
export const App = ({ store, input }: { readonly store: ScreenStore; readonly input: Input }): ReactNode => (
  <StoreContext value={store}>
    <InputContext value={input}>
      <Themed>
        <Page />
      </Themed>
    </InputContext>
  </StoreContext>
);
