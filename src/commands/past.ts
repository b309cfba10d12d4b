import { uptime } from 'node:os';
import { stateDirectory } from '../observe/state/state-directory.ts';
import { type Asked, openMoment, Recording } from '../remember/recorder/index.ts';
import { type OnceOptions, type Output, showSnapshot } from './once.ts';

const bootedAt = (now: number): number => now - uptime() * 1000;

/** `--once --at`: a moment of the flight recorder, as it was judged then. */
export const onceAt = (asked: Asked, options: OnceOptions, env: NodeJS.ProcessEnv, out: Output): number => {
  const now = Date.now();
  const directory = stateDirectory(env);
  if (directory === null) throw new Error('there is no directory for what guard records: HOME is not set.');
  const opened = openMoment(new Recording(directory), asked, { bootedAt: bootedAt(now) });
  if (!opened.ok) throw new Error(opened.message);
  return showSnapshot(opened.snapshot, options, out);
};
