import type { HeartbeatSource } from '../../model/config.ts';
import type { Reading } from '../../model/heartbeat.ts';
import { DirectoryWatch, type OpenWatcher, openChokidar } from './directory-watch.ts';
import { FileTree } from './file-tree.ts';
import { patienceFor } from './patience.ts';

export interface FollowOptions {
  readonly sources: readonly HeartbeatSource[];
  /** Look at everything regularly instead of watching: network mounts tell nobody what changes. */
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
/** Beyond this many events in a tick looking is cheaper than being told: 200 files a second cost 7 % watched, 1.5 % polled. */
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
  #readings: readonly Reading[] | null = null;

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
    this.#tree.refresh(patienceFor(FIRST_LOOK));
    this.#settle(false);
    this.#finishLater();
  }

  readings(): readonly Reading[] {
    this.#readings ??= this.#tree.readings();
    return this.#readings;
  }

  warnings(): string[] {
    const fallback =
      this.#failure === null
        ? []
        : [
            `Heartbeat files are looked at once a second, not watched: ${EXPLAIN[this.#failure] ?? this.#failure}.`,
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
    // An unfinished look goes on first: begun anew at every event it would never end.
    if (this.#tree.unfinished) return;
    const changed = this.#tree.refreshOnly(this.#dirty, patienceFor(SLICE));
    this.#dirty.clear();
    this.#settle(changed);
    this.#finishLater();
  }

  /** Goes on with a look that was too long for one slice, and tells what it found at its end. */
  #finishLater(): void {
    if (this.#closed || this.#finishing !== null || !this.#tree.unfinished) return;
    this.#finishing = setImmediate(() => {
      this.#finishing = null;
      if (this.#tree.goOn(patienceFor(SLICE))) this.#different = true;
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
      this.#settle(this.#tree.refresh(patienceFor(SLICE)));
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
    this.#readings = null;
    if (!this.polling)
      for (const path of this.#watch.watch(this.#tree.watchable())) this.#young.set(path, YOUNG_TICKS);
    if (changed) {
      if (this.#busy) this.#events += 1;
      this.#options.onChange();
    }
  }
}
