import type { HeartbeatSource } from '../../model/config.ts';
import type { Reading } from '../../model/heartbeat.ts';
import { FileTree, timeBudget } from './watched-directories.ts';

export interface FollowOptions {
  readonly sources: readonly HeartbeatSource[];
  /** Look at everything regularly instead of watching: network mounts do not report changes. */
  readonly poll: boolean;
  /** Some reading is different from before. */
  onChange(): void;
  readonly tickMs?: number;
  readonly openWatcher?: OpenWatcher;
}

/** Roots are looked at this often, and so is everything while polling: a beat must be on screen within a second. */
const TICK_MS = 700;
/** Watches miss things (symbolic links, network mounts, races inside chokidar): everything is looked at now and then. */
const FULL_LOOK_TICKS = 10;
/** Events come in bursts: a replaced file alone causes four. */
const GATHER_MS = 30;
/** Beyond this many events in a tick polling is cheaper than watching: 200 files a second cost 7 % watched, 1.5 % polled. */
const BUSY_EVENTS = 150;
const BUSY_TICKS = 3;
const CALM_TICKS = 40;
const YOUNG_TICKS = 3;

/** The first paint may wait this long for files; the rest is looked at in slices that let keys in. */
const FIRST_LOOK = { cpu: 30, wall: 250 };
const SLICE = { cpu: 12, wall: 100 };

const EXPLAIN: Readonly<Record<string, string>> = {
  ENOSPC: 'the system has no file watches left (raise fs.inotify.max_user_watches)',
  EMFILE: 'too many files are open (raise `ulimit -n` or fs.inotify.max_user_instances)',
  ENFILE: 'the system has too many open files',
};

/**
 * Follows every known file below the roots, as agents and their directories come and go. Events only
 * say where to look; what is true is always read from the disk.
 */
export class FileFollower {
  readonly #options: FollowOptions;
  readonly #tree: FileTree;
  readonly #watch: DirectoryWatch;
  readonly #timer: NodeJS.Timeout;
  readonly #dirty = new Set<string>();
  /** Directories whose watch may not stand yet, and for how many ticks we look for ourselves. */
  readonly #young = new Map<string, number>();
  #gathering: NodeJS.Timeout | null = null;
  #finishing: NodeJS.Immediate | null = null;
  /** Something was different in the part of an unfinished look that is done. */
  #different = false;
  #failure: string | null = null;
  #busy = false;
  #events = 0;
  #streak = 0;
  #ticks = 0;
  #closed = false;
  #roots = '';

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#tree = new FileTree(options.sources);
    this.#watch = new DirectoryWatch(options.openWatcher ?? openChokidar, {
      onEvent: directory => this.#noteEvent(directory),
      onFailure: reason => {
        this.#failure ??= reason;
        void this.#watch.close();
      },
    });
    this.#timer = setInterval(() => this.#tick(), options.tickMs ?? TICK_MS);
    this.#timer.unref();
  }

  /** Follows these roots and no others; what is below a new one is known when this returns, if it is not very much. */
  setRoots(roots: readonly string[]): void {
    const key = JSON.stringify(roots);
    if (key === this.#roots) return;
    this.#roots = key;
    this.#tree.setRoots(roots);
    this.#tree.refresh(timeBudget(FIRST_LOOK));
    this.#settle(false);
    this.#finishLater();
  }

  readings(): readonly Reading[] {
    return this.#tree.readings();
  }

  warnings(): string[] {
    const fallback =
      this.#failure === null
        ? []
        : [
            `Heartbeat files are polled once a second, not watched: ${EXPLAIN[this.#failure] ?? this.#failure}.`,
          ];
    return [...fallback, ...this.#tree.warnings()];
  }

  get polling(): boolean {
    return this.#options.poll || this.#failure !== null || this.#busy;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    if (this.#gathering !== null) clearTimeout(this.#gathering);
    if (this.#finishing !== null) clearImmediate(this.#finishing);
    await this.#watch.close();
  }

  #noteEvent(directory: string): void {
    if (this.#closed) return;
    this.#events += 1;
    this.#dirty.add(directory);
    this.#gathering ??= setTimeout(() => {
      this.#gathering = null;
      this.#lookAtDirty();
    }, GATHER_MS);
  }

  #lookAtDirty(): void {
    // An unfinished scan goes on first: restarted at every event it would never end.
    if (this.#tree.unfinished) return;
    const changed = this.#tree.refreshOnly(this.#dirty, timeBudget(SLICE));
    this.#dirty.clear();
    this.#settle(changed);
    this.#finishLater();
  }

  /** Continues a scan that was too long for one slice, and reports what it found at its end. */
  #finishLater(): void {
    if (this.#closed || this.#finishing !== null || !this.#tree.unfinished) return;
    this.#finishing = setImmediate(() => {
      this.#finishing = null;
      if (this.#tree.goOn(timeBudget(SLICE))) this.#different = true;
      if (this.#tree.unfinished) this.#finishLater();
      else this.#settleFound();
    });
  }

  #settleFound(): void {
    const found = this.#different;
    this.#different = false;
    this.#settle(found);
  }

  #tick(): void {
    this.#ticks += 1;
    if (this.#tree.unfinished) this.#settleFound();
    else if (this.polling || this.#ticks % FULL_LOOK_TICKS === 0) {
      this.#settle(this.#tree.refresh(timeBudget(SLICE)));
      this.#finishLater();
    } else {
      for (const [path, ticks] of this.#young) {
        this.#dirty.add(path);
        if (ticks > 1) this.#young.set(path, ticks - 1);
        else this.#young.delete(path);
      }
      this.#lookAtDirty();
    }
    this.#judgePace();
  }

  #judgePace(): void {
    const hurried = this.#busy ? this.#events > 0 : this.#events > BUSY_EVENTS;
    this.#streak = hurried === this.#busy ? 0 : this.#streak + 1;
    this.#events = 0;
    if (this.#streak < (this.#busy ? CALM_TICKS : BUSY_TICKS)) return;
    this.#busy = !this.#busy;
    this.#streak = 0;
    if (this.#busy) void this.#watch.close();
  }

  /** After a look: tell about changes, and watch the directories that exist now. */
  #settle(changed: boolean): void {
    if (this.#closed) return;
    if (!this.polling)
      for (const path of this.#watch.watch(this.#tree.watchable())) this.#young.set(path, YOUNG_TICKS);
    if (changed) {
      if (this.#busy) this.#events += 1;
      this.#options.onChange();
    }
  }
}

/** The part of chokidar we use; tests pass one that fails. */
export interface Watcher {
  add(paths: readonly string[]): unknown;
  unwatch(paths: readonly string[]): unknown;
  on(event: 'raw', listener: (event: string, name: string, details: unknown) => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  close(): Promise<void>;
}

export type OpenWatcher = (isWanted: (path: string) => boolean) => Promise<Watcher>;

/**
 * chokidar on single directories, without their contents: it tells that something happened in there,
 * and we look for ourselves. Watching each file as well costs twice the CPU and twice the inotify
 * watches, and says nothing that a look does not (measured: 200 files replaced every second).
 */
const openChokidar: OpenWatcher = async isWanted => {
  const { watch } = await import('chokidar');
  const watcher = watch([], {
    ignoreInitial: true,
    ignorePermissionErrors: true,
    followSymlinks: false,
    depth: 0,
    atomic: false,
    ignored: path => !isWanted(path),
  });
  return watcher as unknown as Watcher;
};

export interface DirectoryWatchEvents {
  /** Something happened in this directory. */
  onEvent(directory: string): void;
  /** The system will not watch any more: an errno, or a sentence. */
  onFailure(reason: string): void;
}

/** Ignored paths pile up in a chokidar instance; after this many it is replaced. */
const MOST_DROPPED = 256;

/** Keeps one watch per wanted directory, and none on any other. */
export class DirectoryWatch {
  readonly #open: OpenWatcher;
  readonly #events: DirectoryWatchEvents;
  #watcher: Promise<Watcher> | null = null;
  #watched = new Map<string, string>();
  #wanted: ReadonlyMap<string, string> = new Map();
  #dropped = 0;
  #closing: Promise<unknown> = Promise.resolve();

  constructor(open: OpenWatcher, events: DirectoryWatchEvents) {
    this.#open = open;
    this.#events = events;
  }

  /**
   * `wanted`: path and what tells the directory from a namesake; a recreated one is watched again.
   * Returns those that are new here: what happens in them before the watch stands is not reported.
   */
  watch(wanted: ReadonlyMap<string, string>): string[] {
    if (wanted === this.#wanted && this.#watcher !== null) return [];
    this.#wanted = wanted;
    const gone = [...this.#watched].filter(([path, identity]) => wanted.get(path) !== identity);
    const added = [...wanted].filter(([path, identity]) => this.#watched.get(path) !== identity);
    this.#watched = new Map(wanted);
    if (this.#watcher !== null && this.#dropped + gone.length > MOST_DROPPED) {
      void this.close();
      return this.watch(wanted);
    }
    this.#dropped += gone.length;
    const paths = added.map(([path]) => path);
    if (gone.length > 0 || added.length > 0)
      this.#apply(
        gone.map(([path]) => path),
        paths,
      ).catch(error => this.#events.onFailure(String(error)));
    return paths;
  }

  async close(): Promise<void> {
    const watcher = this.#watcher;
    this.#watcher = null;
    this.#watched = new Map();
    this.#dropped = 0;
    if (watcher !== null) this.#closing = Promise.all([this.#closing, watcher.then(w => w.close())]);
    await this.#closing;
  }

  async #apply(gone: readonly string[], added: readonly string[]): Promise<void> {
    if (this.#watcher === null && added.length === 0) return;
    this.#watcher ??= this.#start();
    const opening = this.#watcher;
    const watcher = await opening;
    // Closed while it opened: adding a path now would bring a closed chokidar back to life.
    if (this.#watcher !== opening) return;
    if (gone.length > 0) watcher.unwatch(gone);
    if (added.length > 0) watcher.add(added);
  }

  async #start(): Promise<Watcher> {
    const watcher = await this.#open(path => this.#wanted.has(path));
    watcher.on('raw', (_event, _name, details) => {
      const directory = (details as { watchedPath?: unknown } | null)?.watchedPath;
      if (typeof directory === 'string') this.#events.onEvent(directory);
    });
    watcher.on('error', error => {
      const code = (error as NodeJS.ErrnoException).code ?? '';
      if (code === 'EMFILE' || code === 'ENFILE' || code === 'ENOSPC') this.#events.onFailure(code);
      // Anything else concerns one directory, which the regular look takes care of.
    });
    return watcher;
  }
}
