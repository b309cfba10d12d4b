import { watch } from 'node:fs';
import type { WatchFacts } from '../../model/health.ts';
import { readText } from '../procfs/read.ts';

const WHY: Readonly<Record<string, string>> = {
  EMFILE: 'this user has no inotify instance left, or too many open files',
  ENOSPC: 'this user has no watch left',
};

/** Whether a watch can be had now: the limits alone do not tell what others have taken. */
const tryWatch = (directory: string): Promise<string | null> =>
  new Promise(resolve => {
    const say = (error: unknown): void => {
      const { code, message } = error as NodeJS.ErrnoException;
      resolve(WHY[code ?? ''] ?? message);
    };
    try {
      const watcher = watch(directory, { persistent: false });
      watcher.on('error', say);
      setImmediate(() => {
        watcher.close();
        resolve(null);
      });
    } catch (error) {
      say(error);
    }
  });

const limit = (name: string, root: string): number | null => {
  const value = Number.parseInt(readText(`${root}/sys/fs/inotify/${name}`) ?? '', 10);
  return Number.isFinite(value) ? value : null;
};

export const readWatching = async (directory: string, root = '/proc'): Promise<WatchFacts> => ({
  failed: await tryWatch(directory),
  watches: limit('max_user_watches', root),
  instances: limit('max_user_instances', root),
});
