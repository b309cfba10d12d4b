import type { Live } from '../live/live.ts';
import type { Glyphs } from './look/glyphs.ts';
import type { Size } from './view/layout.ts';
import type { Look } from './view/look.ts';

export interface ControllerOptions {
  readonly live: Live;
  readonly size: Size;
  readonly glyphs: Glyphs;
  readonly all?: boolean;
  /** How it looks at first; default: as the config says. */
  readonly look?: Look;
  /** Default: true. */
  readonly colour?: boolean;
  setMouse?(mouse: boolean): void;
  /** The rows as they are painted. */
  frame?(): readonly string[];
  toClipboard?(text: string): void;
  quit(code: number): void;
  suspend(): void;
  /** Paint every row again, whatever is believed to be on the screen. */
  redraw(): void;
}
