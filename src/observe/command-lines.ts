import * as darwin from './darwin/command-lines.ts';
import * as procfs from './procfs/command-lines.ts';

/** Command lines of single processes, for a few hooks: beats do without, and load only `one-process.ts`. */
const isMac = process.platform === 'darwin';

export type { NamedProcess } from './procfs/command-lines.ts';

/** Null: not known, as it always is on macOS, where asking takes longer than a hook may. */
export const argvAt: typeof procfs.argvAt = isMac ? () => null : procfs.argvAt;
export const processesNamed: typeof procfs.processesNamed = isMac
  ? darwin.processesNamed
  : procfs.processesNamed;
