import { execFileSync } from 'node:child_process';
import { EventEmitter } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Reading } from '../../../src/model/heartbeat.ts';
import { FileFollower, type FollowOptions, type Watcher } from '../../../src/observe/files/watch-files.ts';
import { FileTree } from '../../../src/observe/files/watched-directories.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

const handles = (): number => process.getActiveResourcesInfo().filter(kind => kind === 'FSEventWrap').length;

/** The same sequence on every run, so that a failure can be repeated. */
const randomFrom = (seed: number) => (below: number) => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed % below;
};

describe('FileFollower', () => {
  let sandbox: Sandbox;
  let root: string;
  let follower: FileFollower;
  let changes: number;
  beforeEach(() => {
    sandbox = new Sandbox();
    root = sandbox.path('work');
    changes = 0;
  });
  afterEach(async () => {
    await follower.close();
    await until('every watch to be closed', () => handles() === 0);
    await sandbox.close();
  });

  const follow = (options: Partial<FollowOptions> = {}, roots = [root]): void => {
    follower = new FileFollower({
      sources: [],
      poll: false,
      tickMs: 50,
      onChange: () => {
        changes += 1;
      },
      ...options,
    });
    follower.setRoots(roots);
  };
  const put = (path: string, text: string): string => sandbox.write(`work/${path}`, text);
  const beat = (task: number, phase: number): string =>
    `${JSON.stringify({ session_id: `s${task}`, phase, last_update: new Date().toISOString() })}\n`;
  const at = (path: string): Reading | undefined => follower.readings().find(r => r.path === path);

  it('knows what is there when it starts, and tells of a beat written by `echo >`', async () => {
    const path = put('specs/1_x/.agent-progress.json', beat(1, 1));
    follow();
    expect(at(path)?.phase).toBe('1');
    writeFileSync(path, beat(1, 2));
    await until('the new phase', () => at(path)?.phase === '2');
    expect(changes).toBeGreaterThan(0);
  });

  it('sees a file replaced by `jq > tmp && mv`, deleted and created again, with its directory', async () => {
    const path = put('specs/1_x/.agent-progress.json', beat(1, 1));
    follow();
    execFileSync('sh', ['-c', `sed 's/"phase":1/"phase":7/' "$0" > "$0.tmp" && mv "$0.tmp" "$0"`, path]);
    await until('the replacement', () => at(path)?.phase === '7');
    for (let round = 0; round < 5; round++) {
      rmSync(dirname(path), { recursive: true });
      put('specs/1_x/.agent-progress.json', beat(1, 10 + round));
      await until(`round ${round}`, () => at(path)?.phase === String(10 + round));
    }
    rmSync(path);
    await until('its end', () => at(path) === undefined);
  });

  it('follows a root that appears later and vanishes', async () => {
    const late = sandbox.path('late');
    follow({}, [late]);
    expect(follower.readings()).toEqual([]);
    const path = sandbox.write('late/specs/3_y/.postflight-pending', '{}');
    await until('the marker', () => at(path));
    rmSync(late, { recursive: true });
    await until('nothing', () => follower.readings().length === 0);
    sandbox.write('late/specs/3_y/.postflight-pending', '{}');
    await until('the marker again', () => at(path));
  });

  it('follows a directory to its new name', async () => {
    put('specs/5_old/.agent-progress.json', beat(5, 1));
    follow();
    for (const [from, to] of [
      ['5_old', '1_new'],
      ['1_new', '9_newer'],
    ]) {
      renameSync(`${root}/specs/${from}`, `${root}/specs/${to}`);
      await until(
        to!,
        () =>
          follower
            .readings()
            .map(r => r.path)
            .join() === `${root}/specs/${to}/.agent-progress.json`,
      );
    }
  });

  it('watches what a symbolic link leads to, not where the link lies', async () => {
    const path = sandbox.write('elsewhere/1_x/.agent-progress.json', beat(1, 1));
    symlinkSync(sandbox.path('elsewhere'), `${root}/specs`);
    follow({ tickMs: 60_000 });
    await until('the watches', () => handles() === 2);
    writeFileSync(path, beat(1, 2));
    await until('the change', () => at(`${root}/specs/1_x/.agent-progress.json`)?.phase === '2');
  });

  it('closes the watches of a root that is no longer followed', async () => {
    put('specs/1_x/.agent-progress.json', beat(1, 1));
    sandbox.write('other/specs/1_x/.agent-progress.json', beat(1, 1));
    follow({}, [root, sandbox.path('other')]);
    await until('the watches', () => handles() === 4);
    follower.setRoots([root]);
    expect(follower.readings()).toHaveLength(1);
    await until('half of the watches', () => handles() === 2);
  });

  it('ends with the right state after 500 files were created, replaced, truncated and deleted at random', async () => {
    follow();
    const random = randomFrom(20_260_126);
    const path = (i: number): string =>
      `${root}/specs/${i % 50}_t/${['.agent-progress.json', 'progress/phase-1-progress.json', '.postflight-pending'][i % 3]}`;
    const paths = Array.from(
      { length: 500 },
      (_, i) =>
        `${path(i)
          .replace(/(phase-)1/, `$1${i}`)
          .replace(/specs\/\d+/, `specs/${i}`)}`,
    );
    const acts: ((file: string, i: number) => void)[] = [
      (file, i) => writeFileSync(file, beat(i, random(1000))),
      (file, i) => {
        writeFileSync(`${file}.tmp`, beat(i, random(1000)));
        renameSync(`${file}.tmp`, file);
      },
      file => existsSync(file) && truncateSync(file, random(20)),
      file => rmSync(file, { force: true }),
      file => rmSync(dirname(file), { recursive: true, force: true }),
      file => appendFileSync(file, ' '),
    ];
    for (let step = 0; step < 3000; step++) {
      const i = random(paths.length);
      const file = paths[i]!;
      mkdirSync(dirname(file), { recursive: true });
      acts[random(acts.length)]!(file, i);
      // Let the follower look in between, at changing moments.
      if (step % 100 === 0) await new Promise(done => setImmediate(done));
    }
    const parsed = (text: string): { phase: number } | null => {
      try {
        return JSON.parse(text);
      } catch {
        return null;
      }
    };
    await until('the state on disk', () => {
      const now = new Map(follower.readings().map(r => [r.path, r]));
      const existing = paths.filter(existsSync);
      expect([...now.keys()].sort()).toEqual([...existing].sort());
      for (const file of existing) {
        const content = parsed(readFileSync(file, 'utf8'));
        const reading = now.get(file)!;
        if (file.endsWith('.postflight-pending')) continue;
        expect([file, reading.unreadable === null]).toEqual([file, content !== null]);
        if (content !== null && typeof content === 'object')
          expect(reading.phase).toBe(String(content.phase));
      }
      return true;
    });
  });

  it('falls back to looking when the system has no watches left, and says so', async () => {
    const path = put('specs/1_x/.agent-progress.json', beat(1, 1));
    const emitter = new EventEmitter();
    let closed = 0;
    const broken = Object.assign(emitter, {
      add: () => emitter.emit('error', Object.assign(new Error('full'), { code: 'ENOSPC' })),
      unwatch: () => {},
      close: async () => {
        closed += 1;
      },
    }) as unknown as Watcher;
    follow({ openWatcher: async () => broken });
    await until('the fallback', () => follower.polling);
    expect(follower.warnings()).toEqual([expect.stringContaining('max_user_watches')]);
    await until('the watcher to be closed', () => closed === 1);
    writeFileSync(path, beat(1, 5));
    await until('the change', () => at(path)?.phase === '5');
  });

  it('stops being told when there is too much to tell, and listens again when it is calm', async () => {
    const path = put('specs/1_x/.agent-progress.json', beat(1, 1));
    let opened = 0;
    const emitter = new EventEmitter();
    const noisy = Object.assign(emitter, { add: () => {}, unwatch: () => {}, close: async () => {} });
    follow({
      tickMs: 20,
      openWatcher: async () => {
        opened += 1;
        return noisy as unknown as Watcher;
      },
    });
    const timer = setInterval(() => {
      for (let i = 0; i < 400; i++) emitter.emit('raw', 'change', 'x', { watchedPath: dirname(path) });
    }, 5);
    await until('it to look for itself', () => follower.polling);
    clearInterval(timer);
    writeFileSync(path, beat(1, 2));
    await until('the change', () => at(path)?.phase === '2');
    await until('it to listen again', () => !follower.polling && opened === 2);
    expect(follower.warnings()).toEqual([]);
  });

  it('opens no watcher when told to poll', async () => {
    const path = put('specs/1_x/.agent-progress.json', beat(1, 1));
    follow({
      poll: true,
      openWatcher: () => {
        throw new Error('must not be opened');
      },
    });
    writeFileSync(path, beat(1, 9));
    await until('the change', () => at(path)?.phase === '9');
    expect(handles()).toBe(0);
  });
});

describe('FileTree', () => {
  it('says which directories are worth watching, as they come, go and take the place of others', async () => {
    const sandbox = new Sandbox();
    const place = (path: string) => sandbox.path('work', path);
    const tree = new FileTree([]);
    const look = () => {
      tree.refresh(() => true);
      return tree.watchable();
    };
    try {
      tree.setRoots([place('')]);
      expect([...look().keys()]).toEqual([]);
      mkdirSync(place('specs/1_x'), { recursive: true });
      expect([...look().keys()]).toEqual([place('specs'), place('specs/1_x')]);
      // As long as nothing changed it is the same list: nobody compares thousands of names in vain.
      expect(look()).toBe(tree.watchable());
      const before = look().get(place('specs/1_x'));
      mkdirSync(place('new'));
      rmSync(place('specs/1_x'), { recursive: true });
      renameSync(place('new'), place('specs/1_x'));
      expect(look().get(place('specs/1_x'))).not.toBe(before);
      rmSync(place('specs/1_x'), { recursive: true });
      expect([...look().keys()]).toEqual([place('specs')]);
      // Roots may be huge: what is in them is looked at every while.
      tree.setRoots([place(''), place('specs')]);
      expect([...tree.watchable().keys()]).toEqual([]);
    } finally {
      await sandbox.close();
    }
  });

  it('finds a new file in a directory that it knows, wherever an earlier look was broken off', async () => {
    const sandbox = new Sandbox();
    const task = sandbox.path('work', 'specs/1_x');
    /** Long enough ago that nothing else can have happened in the same step of the clock. */
    const changedAgo = (seconds: number) => {
      const then = new Date(Date.now() - 1000 * seconds);
      utimesSync(task, then, then);
    };
    try {
      for (let steps = 0; steps < 20; steps += 1) {
        const tree = new FileTree([]);
        rmSync(task, { recursive: true, force: true });
        mkdirSync(task, { recursive: true });
        changedAgo(1000);
        tree.setRoots([sandbox.path('work')]);
        tree.refresh(() => true);
        expect(tree.readings()).toEqual([]);
        sandbox.write('work/specs/1_x/.agent-progress.json', '{}');
        changedAgo(500);
        let left = steps;
        tree.refresh(() => left-- > 0);
        tree.refresh(() => true);
        expect(tree.readings(), `after ${steps} steps`).toHaveLength(1);
      }
    } finally {
      await sandbox.close();
    }
  });
});
