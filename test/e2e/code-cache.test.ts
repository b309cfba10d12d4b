import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HOOK_EVENTS } from '../../src/model/hook.ts';
import { CLI } from '../support/cli.ts';
import { Pty } from '../support/pty.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
let cli: string;
beforeEach(() => {
  sandbox = new Sandbox({ firstRun: true });
  cpSync(dirname(CLI), sandbox.path('dist'), { recursive: true });
  cli = sandbox.path('dist/cli.js');
});
afterEach(() => sandbox.close());

const directory = (): string => join(sandbox.home, '.cache/reaptop');
const caches = (): string[] => readdirSync(directory()).sort();

/** Runs the program in a script that tells what became of the cache: used, rejected, or none. */
const runWith = (env: NodeJS.ProcessEnv, ...args: string[]): string => {
  const script = `
    process.argv = [process.argv[0], ${JSON.stringify(cli)}, ...${JSON.stringify(args)}];
    process.stdout.write = () => true;
    const { loaded } = require(${JSON.stringify(cli)});
    process.on('exit', () => {
      const fates = new Set([...loaded.values()].map(({ script }) => ({ false: 'used', true: 'rejected', undefined: 'none' })[script.cachedDataRejected]));
      process.stderr.write([...fates].join());
    });
  `;
  const { status, stderr } = spawnSync(process.execPath, ['-e', script], {
    env: { ...sandbox.env, ...env },
    cwd: sandbox.path('work'),
    encoding: 'utf8',
  });
  expect(status).toBe(0);
  return stderr;
};
const run = (...args: string[]): string => runWith({}, ...args);

describe('the code cache', () => {
  it('is not in the build, is made by the first run of a command for this user alone, and used by the next', () => {
    expect(readdirSync(dirname(CLI)).filter(name => name.includes('.cache'))).toEqual([]);
    expect([run('--once'), run('--once')]).toEqual(['none', 'used']);
    expect([run('completion', 'bash'), run('completion', 'bash')]).toEqual(['none', 'used']);
    // The whole program takes from `once.js` what that has.
    const made = caches().map(name => /^(?:--)?\w+-\w+/.exec(name)?.[0]);
    expect(made.sort()).toEqual(['--once-once', 'completion-main', 'completion-once']);
    expect(statSync(directory()).mode & 0o777).toBe(0o700);
    for (const name of caches()) expect(statSync(join(directory(), name)).mode & 0o777).toBe(0o600);
  });

  it('is another one under other flags of V8, and neither takes the place of the other', () => {
    const flagged = { NODE_OPTIONS: '--stack-trace-limit=7' };
    const once = (env: NodeJS.ProcessEnv): string => runWith(env, '--once');
    expect([once({}), once(flagged), once({}), once(flagged)]).toEqual(['none', 'none', 'used', 'used']);
  });

  it('is written for the screen even if the terminal kills it later', async () => {
    const pty = new Pty(sandbox, { command: [process.execPath, cli, '--demo'] });
    const main = /^screen-main-.*\.cache$/;
    await until('its cache', () => existsSync(directory()) && caches().some(name => main.test(name)));
    process.kill(pty.pid, 'SIGKILL');
  });

  it('is one for all hooks', () => {
    expect(HOOK_EVENTS.map(event => run('hook', event))).not.toContain('rejected');
    for (const event of HOOK_EVENTS) expect(run('hook', event)).toBe('used');
    expect(caches().map(name => name.split('-').slice(0, 2).join('-'))).toEqual(['hook-quick']);
  });

  it.each(['Unheard', '../../escape', ''])('has no name of the user’s making: "%s"', event => {
    const { status } = spawnSync(process.execPath, [cli, 'hook', event], { env: sandbox.env });
    // Only what could be an event is one: a typing error is not answered as a hook.
    expect(status).toBe(event === 'Unheard' ? 0 : 2);
    for (const name of caches()) expect(name).toMatch(/^hook-(?:quick|once|main)-[\w.-]+\.cache$/);
  });

  it('of another file with the same length is not used', () => {
    run('--once');
    const code = sandbox.path('dist/once.js');
    const then = new Date(1e12);
    utimesSync(code, then, then);
    expect([run('--once'), run('--once')]).toEqual(['none', 'used']);
  });

  it('is deleted when it is damaged, and no hook crashes', () => {
    const hook = () =>
      spawnSync(process.execPath, [cli, 'hook', 'PostToolUse'], {
        env: sandbox.env,
        cwd: sandbox.path('work'),
        input: '{}',
        encoding: 'utf8',
      });
    hook();
    const path = join(directory(), caches()[0]!);
    const whole = readFileSync(path);
    // The same places in every run of the test.
    let seed = 7;
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
      return seed % below;
    };
    for (let round = 0; round < 60; round += 1) {
      const damaged = Buffer.from(whole);
      const length = round % 3 === 0 ? 1 : 4096;
      const from = random(whole.length - length);
      for (let at = from; at < from + length; at += 1)
        damaged[at] = round % 3 === 1 ? 0 : damaged[at]! ^ (1 + random(255));
      writeFileSync(path, damaged);
      const { status, stdout, stderr } = hook();
      expect([round, status, stdout, stderr]).toEqual([round, 0, '{}\n', '']);
      expect(readFileSync(path).equals(damaged)).toBe(whole.equals(damaged));
    }
    expect(run('hook', 'PostToolUse')).toBe('used');
  });

  it.each([
    ['nonsense', () => Buffer.from('nonsense')],
    ['cut off', (whole: Buffer) => whole.subarray(0, whole.length / 2)],
    ['empty', () => Buffer.alloc(0)],
  ])('is not looked at when it is %s, and made again', (_, broken) => {
    run('--once');
    const path = join(directory(), caches()[0]!);
    writeFileSync(path, broken(readFileSync(path)));
    expect([run('--once'), run('--once')]).toEqual(['none', 'used']);
  });

  it('serves the live screen with all that it loads, under the flags it runs with', async () => {
    const spy = sandbox.write(
      'spy.cjs',
      `const vm = require('node:vm');
       const { appendFileSync } = require('node:fs');
       const { Script } = vm;
       vm.Script = class extends Script {
         constructor(source, options) {
           super(source, options);
           appendFileSync(${JSON.stringify(sandbox.path('fates'))}, options.filename.split('/').pop() + ' ' + this.cachedDataRejected + '\\n');
         }
       };`,
    );
    const open = async (): Promise<string[]> => {
      sandbox.write('fates', '');
      const pty = new Pty(sandbox, { args: ['--demo'], env: { NODE_OPTIONS: `--require=${spy}` } });
      await pty.shows('claude');
      pty.press('q');
      expect(await pty.exit()).toBe(0);
      return readFileSync(sandbox.path('fates'), 'utf8').trim().split('\n').sort();
    };
    const first = await open();
    expect(first).toEqual(['main.js undefined', 'once.js undefined']);
    expect(await open()).toEqual(first.map(fate => fate.replace('undefined', 'false')));
  });

  it('of another build is not used, because V8 only compares lengths', () => {
    run('--once');
    const launch = readFileSync(cli, 'utf8');
    writeFileSync(cli, launch.replace(/const BUILD = '[0-9a-f]{16}'/, "const BUILD = 'another'"));
    expect(launch).toMatch(/const BUILD = '[0-9a-f]{16}'/);
    expect(run('--once')).toBe('none');
  });

  it('is never read through a link, nor when somebody else could have written it', () => {
    run('--once');
    const path = join(directory(), caches()[0]!);
    chmodSync(path, 0o666);
    expect(run('--once')).toBe('none');
    expect(run('--once')).toBe('used'); // its own, put in the place of the other
    cpSync(path, sandbox.path('planted'));
    spawnSync('rm', [path]);
    symlinkSync(sandbox.path('planted'), path);
    expect(run('--once')).toBe('none');
  });

  it.runIf(process.getuid?.() === 0)('is not made in the home of another user, nor is its directory', () => {
    chownSync(sandbox.home, 65534, 65534);
    for (const args of [['--once'], ['hook', 'Stop'], ['doctor']]) run(...args);
    expect(readdirSync(sandbox.home)).toEqual([]);
  });

  it.runIf(process.getuid?.() === 0)('in the home of another user is neither read nor written', () => {
    run('--once');
    chownSync(join(directory(), caches()[0]!), 65534, 65534);
    chownSync(directory(), 65534, 65534);
    expect([run('--once'), run('--once')]).toEqual(['none', 'none']);
    expect(caches()).toHaveLength(1);
  });

  it('keeps forty, the youngest, and nothing fails where it cannot be kept', () => {
    run('--once');
    for (let n = 0; n < 60; n += 1) sandbox.write(`home/.cache/reaptop/old${n}.cache`, '');
    run('completion', 'zsh');
    expect(caches()).toHaveLength(40);
    sandbox.write('home/file', '');
    const env = { ...sandbox.env, XDG_CACHE_HOME: join(sandbox.home, 'file') };
    const { status, stderr } = spawnSync(process.execPath, [cli, '--once'], { env, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

describe("V8's flags", () => {
  const flags = (version: string, ...args: string[]): string => {
    const script = `
      process.argv = [process.argv[0], ${JSON.stringify(cli)}, ...${JSON.stringify(args)}];
      process.stdout.write = () => true;
      Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });
      const set = [];
      require('node:v8').setFlagsFromString = flag => set.push(flag);
      require(${JSON.stringify(cli)});
      process.on('exit', () => process.stderr.write(set.join(' ')));
    `;
    return spawnSync(process.execPath, ['-e', script], { env: sandbox.env, encoding: 'utf8' }).stderr;
  };

  it.each([
    ['20.19.0', '--semi-space-growth-factor=1 --no-opt --no-concurrent-marking'],
    ['26.10.0', '--semi-space-growth-factor=1 --no-opt --no-concurrent-marking'],
    ['27.0.0', ''],
  ])('Node %s is given only those that it has', (version, expected) => {
    expect(flags(version, '--version')).toBe(expected);
  });
});

describe('a hook while the program is replaced', () => {
  const hook = (event: string) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, 'hook', event], {
      env: sandbox.env,
      cwd: sandbox.path('work'),
      input: JSON.stringify({ session_id: 'one', cwd: sandbox.path('work'), source: 'startup' }),
      encoding: 'utf8',
    });
    return [status, stdout, stderr];
  };

  it.each<[string, string, (path: string) => void]>([
    ['its code is not there', 'quick.js', path => rmSync(path)],
    ['half of its code is there', 'quick.js', path => truncateSync(path, 20_000)],
    ['nothing is in it yet', 'quick.js', path => truncateSync(path, 0)],
    ['what it loads later is not there', 'main.js', path => rmSync(path)],
    ['half of what it loads later is there', 'main.js', path => truncateSync(path, 20_000)],
  ])('answers {} and exits 0 when %s', (_, name, damage) => {
    damage(sandbox.path('dist', name));
    for (const event of HOOK_EVENTS) expect(hook(event)).toEqual([0, '{}\n', '']);
    expect(hook('Unheard')).toEqual([0, '{}\n', '']);
  });
});
