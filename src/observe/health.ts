import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  realpathSync,
  type Stats,
  statfsSync,
  watch,
} from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type {
  LeanProject,
  PressureFacts,
  ProcFacts,
  StateFacts,
  TimerFacts,
  WatchFacts,
} from '../model/health.ts';
import type { HostFacts } from '../model/observation.ts';
import { visible } from '../model/text.ts';
import { readHead, readInside } from './files/read-bounded.ts';
import { readText } from './procfs/read.ts';
import { belongsToUs } from './state/own-file.ts';
import { statePlace } from './state/state-directory.ts';

/** Where a directory holds more, the figure is a lower bound, and said to be one. */
const MOST_ENTRIES = 20_000;

export interface DiskUse {
  readonly bytes: number;
  readonly cut: boolean;
}

/** What lies below a directory, links not followed; null when it is not there. */
export const diskUse = (directory: string): DiskUse | null => {
  const left = [directory];
  let bytes = 0;
  let entries = 0;
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    let names: string[];
    try {
      names = readdirSync(at);
    } catch {
      if (at === directory) return null;
      continue; // gone meanwhile, or closed to us
    }
    for (const name of names) {
      entries += 1;
      if (entries > MOST_ENTRIES) return { bytes, cut: true };
      const stat = lstatSync(join(at, name), { throwIfNoEntry: false });
      if (stat?.isDirectory()) left.push(join(at, name));
      else bytes += stat?.size ?? 0;
    }
  }
  return { bytes, cut: false };
};

/** A cwd is at most this far below its project. */
const MOST_LEVELS = 8;
const MOST_NAME = 80;

/** The Lean project a directory lies in, by the nearest `lean-toolchain`; null when there is none. */
export const leanProjectOf = (directory: string): LeanProject | null => {
  let at = directory;
  for (let level = 0; level < MOST_LEVELS; level += 1) {
    const read = readInside(join(at, 'lean-toolchain'), at, 4096);
    if (read.ok) {
      const toolchain = visible(read.text.trim().split('\n')[0] ?? '').slice(0, MOST_NAME);
      return { path: visible(at), toolchain };
    }
    if (at === dirname(at)) return null;
    at = dirname(at);
  }
  return null;
};

/** Each project once, whatever number of directories lie in it. */
export const leanProjectsOf = (directories: Iterable<string>): readonly LeanProject[] => {
  const found = new Map<string, LeanProject>();
  for (const directory of new Set(directories)) {
    const project = leanProjectOf(directory);
    if (project !== null) found.set(project.path, project);
  }
  return [...found.values()];
};

const listOrNone = (directory: string): readonly string[] => {
  try {
    return readdirSync(directory);
  } catch {
    return []; // not there, or not ours to look into
  }
};

/** `lib/python3.12/site-packages/lean_lsp_mcp-0.24.0.dist-info` beside the `bin` that a program lies in. */
const versionBeside = (bin: string): string | null => {
  const lib = join(dirname(bin), 'lib');
  for (const python of listOrNone(lib).filter(name => name.startsWith('python')))
    for (const name of listOrNone(join(lib, python, 'site-packages'))) {
      const version = /^lean_lsp_mcp-([\w.+!]{1,40})\.dist-info$/.exec(name)?.[1];
      if (version !== undefined) return version;
    }
  return null;
};

/** The version of a lean-lsp-mcp by the words it was started with: its script, or the Python that runs it. */
export const leanServerVersion = (words: readonly string[]): string | null => {
  for (const word of words.slice(0, 3).filter(isAbsolute)) {
    // A venv's python is a link out of it, a console script often a link into it.
    for (const path of new Set([word, realOrNone(word)])) {
      const version = path === null ? null : versionBeside(dirname(path));
      if (version !== null) return version;
    }
  }
  return null;
};

const realOrNone = (path: string): string | null => {
  try {
    return realpathSync(path);
  } catch {
    return null; // gone since it was started
  }
};

/** `some avg10=0.00 avg60=1.25 avg300=0.40 total=123`: the share of time in which some process waited for memory. */
const waitedIn = (text: string | null): number | null => {
  const share = Number.parseFloat(/^some .*\bavg60=([\d.]+)/m.exec(text ?? '')?.[1] ?? '');
  return Number.isFinite(share) ? share : null;
};

export const readPressure = (
  host: Pick<HostFacts, 'memTotal' | 'memAvailable' | 'swapUsed' | 'memoryPressure'>,
  root = '/proc',
): PressureFacts => {
  const swap = /^SwapTotal:\s+(\d+) kB/m.exec(readText(`${root}/meminfo`) ?? '')?.[1];
  return {
    ...{ memTotal: host.memTotal, memAvailable: host.memAvailable, swapUsed: host.swapUsed },
    swapTotal: swap === undefined ? null : Number(swap) * 1024,
    waited: waitedIn(readText(`${root}/pressure/memory`)),
    level: host.memoryPressure ?? null,
  };
};

/** `hidepid=2` and `hidepid=invisible` are the same; 0 and off hide nothing. */
const hidingIn = (options: string): string | null => {
  const value = /(?:^|,)hidepid=([^,]+)/.exec(options)?.[1];
  return value === undefined || value === '0' || value === 'off' ? null : visible(value);
};

/** How /proc is mounted, from our own mount table. */
export const readProcMount = (platform: string, root = '/proc'): ProcFacts => {
  if (platform !== 'linux') return { kind: 'none', platform };
  const mounts = readText(`${root}/self/mountinfo`);
  if (mounts === null) return { kind: 'missing' };
  // 22 1 0:21 / /proc rw,nosuid shared:5 - proc proc rw,hidepid=2
  const proc = mounts
    .split('\n')
    .map(line => line.split(' '))
    .findLast(words => words[4] === '/proc' && words.includes('-'));
  const options = proc === undefined ? '' : `${proc.at(-1)},${proc[5]}`;
  return { kind: 'mounted', hidepid: hidingIn(options) };
};

const statOrNull = (path: string): Stats | null => {
  try {
    return lstatSync(path);
  } catch {
    return null; // not there yet
  }
};

/** The directory itself, or the nearest one above it that is there: it will be made in that one. */
const nearest = (path: string): string =>
  statOrNull(path) !== null || path === dirname(path) ? path : nearest(dirname(path));

const writableAt = (path: string): boolean => {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false; // read-only, or closed to us
  }
};

const freeAt = (path: string): number | null => {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return null; // the file system does not tell
  }
};

/** How the place of our own state is doing, without touching it. */
export const stateFacts = (env: NodeJS.ProcessEnv): StateFacts => {
  const { directory, warning } = statePlace(env);
  if (directory === null) return { kind: 'nowhere', why: warning ?? 'HOME is not set' };
  const stat = statOrNull(directory);
  const base = nearest(directory);
  return {
    kind: 'there',
    path: visible(directory),
    elsewhere: warning,
    is: stat === null ? 'absent' : stat.isDirectory() ? 'directory' : 'other',
    ours: stat === null || belongsToUs(stat),
    mode: stat === null ? null : stat.mode & 0o777,
    writable: writableAt(base),
    free: freeAt(base),
  };
};

/** No user has more units. */
const MOST_UNITS = 500;

const UNIT = /\.(?:service|timer)$/;

/** Timers of this user whose service runs `claude-refresh`, under whatever name. */
export const readRefreshTimers = (config: string): readonly TimerFacts[] => {
  const directory = join(config, 'systemd', 'user');
  let names: readonly string[];
  try {
    names = readdirSync(directory).filter(name => UNIT.test(name));
  } catch {
    return []; // no units of his own
  }
  const units = new Set<string>();
  for (const name of names.slice(0, MOST_UNITS)) {
    const read = readHead(join(directory, name), 16 * 1024);
    if (name.startsWith('claude-refresh.') || (read.ok && /^ExecStart=.*claude-refresh/m.test(read.text)))
      units.add(name.replace(UNIT, ''));
  }
  return [...units].sort().map(unit => {
    const timer = names.includes(`${unit}.timer`) ? `${unit}.timer` : `${unit}.service`;
    return {
      path: visible(join(directory, timer)),
      enabled: existsSync(join(directory, 'timers.target.wants', `${unit}.timer`)),
    };
  });
};

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
