import { Showing, type TuiParts } from './session.tsx';

/** SIGTSTP to the group, as the terminal itself would: where no shell could resume us (a pane's own command) the kernel ignores it. */
const stopGroup = (): void => void process.kill(0, 'SIGTSTP');

/**
 * Shows the engine until the user leaves; resolves to the exit code, with the terminal as it was.
 * The bundle must alias `is-in-ci` to false, leave out `react-devtools-core`, and bake in NODE_ENV=production;
 * `build/ink/patches.mjs` is the esbuild plugin that does it.
 */
export const runTui = (parts: TuiParts): Promise<number> =>
  new Promise(resolve => new Showing({ stopSelf: stopGroup, ...parts }, resolve).start());
