import type { Need } from '../packages.ts';
import type { FirstProcess } from '../sandbox.ts';
import type { Stage } from './stage.ts';

export interface Scene {
  readonly name: string;
  /** One line for `--list`. */
  readonly about: string;
  readonly needs: readonly Need[];
  readonly first?: FirstProcess;
  /** Sets the scene; a TUI that is open before watches all of it. */
  readonly play: (stage: Stage) => Promise<void>;
}
