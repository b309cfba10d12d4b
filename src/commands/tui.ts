import { openSync } from 'node:fs';
import { uptime } from 'node:os';
import { ReadStream } from 'node:tty';
import { followedFiles, NO_FILES } from '../engine/agent-files.ts';
import { LiveEngine } from '../engine/live-engine.ts';
import type { Live } from '../engine/live-state.ts';
import type { Prepared } from '../engine/prepare.ts';
import { TimeTravel } from '../engine/time-travel.ts';
import type { Asked } from '../model/time.ts';
import { stateDirectory } from '../observe/state/state-directory.ts';

export interface LiveOptions {
  /** Not given: what the config says. */
  readonly intervalSeconds: number | undefined;
  readonly all: boolean;
  readonly color: boolean;
  /** false: `--no-mouse`. */
  readonly mouse: boolean;
  /** true: `--bell`. */
  readonly bell: boolean;
}

/** `--from -` has taken standard input for the table: the keys then come from the terminal itself. */
const keyboard = (): NodeJS.ReadStream =>
  process.stdin.isTTY === true ? process.stdin : new ReadStream(openSync('/dev/tty', 'r'));

const show = async (
  live: Live,
  { all, color, mouse, bell }: LiveOptions,
  env: NodeJS.ProcessEnv,
): Promise<number> => {
  // chalk decides at import, and knows nothing of NO_COLOR.
  if (!color) process.env.FORCE_COLOR = '0';
  const { runTui } = await import('../tui/main.tsx');
  const stdin = keyboard();
  try {
    const options = { all, ...(mouse ? {} : { mouse }), ...(bell ? { bell } : {}) };
    return await runTui({ live, options, stdin, stdout: process.stdout, env });
  } finally {
    await live.stop();
    // Ours to close: an open terminal would keep the program alive.
    if (stdin !== process.stdin) stdin.destroy();
  }
};

/** The live screen on this machine, or on a recorded table. */
export const live = async (
  { system, config, collectorWith }: Prepared,
  options: LiveOptions & {
    readonly poll: boolean;
    readonly configPath: string | null;
    readonly at?: Asked | undefined;
  },
  env: NodeJS.ProcessEnv,
): Promise<number> => {
  const { intervalSeconds = config.interval, all, poll, configPath } = options;
  let engine: LiveEngine | null = null;
  const files =
    system.readOnly === null
      ? await followedFiles(config, { poll, onChange: () => engine?.noteFiles() })
      : NO_FILES;
  engine = await LiveEngine.start({
    collector: collectorWith(files),
    system,
    config,
    env,
    intervalSeconds,
    all,
    configPath,
  });
  try {
    return await show(await withPast(engine, options.at, system.readOnly !== null, env), options, env);
  } finally {
    await files.close();
  }
};

/** A recorded table has no other past than itself. */
const withPast = async (
  engine: LiveEngine,
  at: Asked | undefined,
  recorded: boolean,
  env: NodeJS.ProcessEnv,
): Promise<Live> => {
  if (recorded) return engine;
  const travel = new TimeTravel({ live: engine, env, directory: stateDirectory(env) });
  if (at === undefined) return travel;
  const why = await travel.open(at, Date.now() - uptime() * 1000);
  if (why === null) return travel;
  await engine.stop();
  throw new Error(why);
};

/** The same screen on an invented machine: nothing real is looked at or signalled. */
export const demo = async (options: LiveOptions, env: NodeJS.ProcessEnv): Promise<number> => {
  const { startDemo } = await import('../engine/demo.ts');
  return show((await startDemo(options)).live, options, env);
};
