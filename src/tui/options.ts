import type { Live } from '../live/live.ts';
import type { ThemeChoice } from '../model/look.ts';

export interface TuiOptions {
  readonly theme?: ThemeChoice;
  readonly all?: boolean;
  /** Default: what the config says. */
  readonly mouse?: boolean;
  /** Rings the bell of the terminal for news; default: what the config says. */
  readonly bell?: boolean;
  /** Default: unless NO_COLOR is set or FORCE_COLOR is 0. */
  readonly color?: boolean;
  /** A plain list without cursor tricks; also when INK_SCREEN_READER=true. */
  readonly screenReader?: boolean;
}

export interface TuiParts {
  readonly live: Live;
  readonly options: TuiOptions;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly env: NodeJS.ProcessEnv;
  /** Stops the process group until it is continued; tests put something else here. */
  readonly stopSelf?: () => void;
}
