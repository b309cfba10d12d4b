import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  homeDirectory,
  loadConfig,
  loadRootSettings,
  UsageError,
  userConfigPath,
} from '../../src/engine/load-config.ts';
import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
import { lacking } from '../support/lacking.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'reaptop-config-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const write = (path: string, value: unknown): string => {
  const full = join(dir, path);
  mkdirSync(join(full, '..'), { recursive: true });
  writeFileSync(full, typeof value === 'string' ? value : JSON.stringify(value));
  return full;
};
const load = (value: unknown) => loadConfig({}, write('config.json', value));

describe('the user’s config', () => {
  it('is the default when there is none, wherever HOME is', async () => {
    expect(await loadConfig({ HOME: dir })).toBe(DEFAULT_CONFIG);
    expect(await loadConfig({ HOME: '/nowhere' })).toBe(DEFAULT_CONFIG);
    write('a-file', '');
    expect(await loadConfig({ HOME: join(dir, 'a-file') })).toBe(DEFAULT_CONFIG);
  });

  it('is found in XDG_CONFIG_HOME before HOME', async () => {
    write('home/.config/reaptop/config.json', { theme: 'light' });
    write('xdg/reaptop/config.json', { theme: 'high-contrast' });
    const HOME = join(dir, 'home');
    expect((await loadConfig({ HOME })).theme).toBe('light');
    expect((await loadConfig({ HOME, XDG_CONFIG_HOME: join(dir, 'xdg') })).theme).toBe('high-contrast');
    expect((await loadConfig({ HOME, XDG_CONFIG_HOME: '' })).theme).toBe('light');
  });

  it.each(Object.entries(DEFAULT_CONFIG.thresholds))(
    'sets every number of %s, and leaves the others',
    async (id, values) => {
      for (const [name, value] of Object.entries(values)) {
        if (typeof value !== 'number') continue;
        const { thresholds } = await load({ thresholds: { [id]: { [name]: 7 } } });
        expect(thresholds).toEqual({ ...DEFAULT_CONFIG.thresholds, [id]: { ...values, [name]: 7 } });
      }
    },
  );

  it('sets the limit of one tool, and leaves those of the others', async () => {
    const { thresholds } = await load({ thresholds: { 'call-hung': { tools: { lean_goal: 7, mine: 9 } } } });
    const { tools } = DEFAULT_CONFIG.thresholds['call-hung'];
    expect(thresholds['call-hung'].tools).toEqual({ ...tools, lean_goal: 7, mine: 9 });
    await expect(load({ thresholds: { 'call-hung': { tools: { lean_goal: -1 } } } })).rejects.toThrow(
      'thresholds.call-hung.tools.lean_goal',
    );
  });

  it('takes recognisers and protections', async () => {
    const recogniser = { name: 'mine', kind: 'mcp', program: 'my-*', args: ['serve'] };
    expect(await load({ recognisers: [recogniser], protect: ['postgres*'] })).toMatchObject({
      recognisers: [recogniser],
      protect: ['postgres*'],
    });
  });

  it.each<[unknown, string]>([
    [{ thresholds: { leaks: {} } }, 'thresholds.leaks: unknown key; allowed here: leak, zombie'],
    [{ thresholds: { 'too-many-agents': { count: -1 } } }, 'thresholds.too-many-agents.count'],
    [{ thresholds: { 'too-many-agents': { count: 1.5 } } }, 'thresholds.too-many-agents.count'],
    [{ thresholds: { spinning: { seconds: 0 } } }, 'thresholds.spinning.seconds'],
    [{ recognisers: [{ name: 'x', kind: 'mcp' }] }, 'recognisers.0.program'],
    [{ heartbeats: [{ name: 'x', glob: 'y', timeFormat: 'stardate' }] }, 'heartbeats.0.timeFormat'],
    [
      { columns: ['pid', 'virt'] },
      'columns.1: unknown; it must be one of verdict, pid, mem, tree, cpu, age, state, ports, kind, tty',
    ],
    [{ theme: 'dark' }, 'theme: unknown; it must be one of auto, default, light, high-contrast'],
    [{ interval: 0 }, 'interval'],
    [{ protect: [''] }, 'protect.0'],
    [null, 'the whole file'],
    ['{', 'is not valid JSON'],
  ])('says what is wrong and where: %j', async (value, says) => {
    await expect(load(value)).rejects.toThrow(UsageError);
    await expect(load(value)).rejects.toThrow(says);
  });

  it('is an error when it cannot be read, because it may hold protections', async () => {
    mkdirSync(join(dir, 'reaptop/config.json'), { recursive: true });
    await expect(loadConfig({ XDG_CONFIG_HOME: dir })).rejects.toThrow(
      /config\.json cannot be read \(EISDIR\)/,
    );
  });

  it('cannot write to the terminal through its own complaint', async () => {
    for (const text of ['{"\\u001b[2J": 1}', '\x1b[2J', '{"theme": "\\u001b[2J"}'])
      await expect(load(text)).rejects.toThrow(/^[^\p{Cc}]*$/u);
  });
});

describe('a root’s .reaptop.json', () => {
  it('may add protections and heartbeat sources, and tune the findings of its own files', async () => {
    write('.reaptop.json', {
      protect: ['dev-db'],
      heartbeats: [{ name: 'mine', glob: '*.beat' }],
      thresholds: { 'heartbeat-stale': { warnSeconds: 5 } },
    });
    const settings = await loadRootSettings([dir, '/nowhere']);
    expect(settings).toMatchObject({ protect: ['dev-db'], heartbeats: [{ name: 'mine' }], warnings: [] });
    expect(settings.thresholds.get(dir)).toEqual({ 'heartbeat-stale': { warnSeconds: 5 } });
  });

  it.each<[string, unknown]>([
    ['recognisers', { recognisers: [], protect: ['x'] }],
    ['thresholds of processes', { thresholds: { 'over-memory': { limitBytes: 1 } }, protect: ['x'] }],
    ['theme', { theme: 'light', protect: ['x'] }],
    ['a wrong type', { protect: 'x' }],
    ['no JSON', '{{'],
    ['more than a config', `{"protect": ["${'x'.repeat(70_000)}"]}`],
  ])('is ignored whole, with one warning, when it holds %s', async (_, value) => {
    write('.reaptop.json', value);
    const { protect, heartbeats, thresholds, warnings } = await loadRootSettings([dir]);
    expect([protect, heartbeats, thresholds.size]).toEqual([[], [], 0]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/\.reaptop\.json is ignored: .*may only add/);
  });

  it('names what a project may set, not what a user may', async () => {
    write('.reaptop.json', { thresholds: { leak: {} } });
    const { warnings } = await loadRootSettings([dir]);
    expect(warnings[0]).toMatch(/thresholds\.leak: unknown key; allowed here: heartbeat-stale, /);
    expect(warnings[0]).not.toContain('over-memory');
  });

  it('cannot hang us as a pipe, nor as a directory', async () => {
    execFileSync('mkfifo', [join(dir, '.reaptop.json')]);
    expect((await loadRootSettings([dir])).warnings[0]).toMatch(/not a regular file/);
    rmSync(join(dir, '.reaptop.json'));
    mkdirSync(join(dir, '.reaptop.json'));
    expect((await loadRootSettings([dir])).warnings[0]).toMatch(/not a regular file/);
  });
});

it('without HOME the password database knows the home directory', () => {
  try {
    userInfo();
  } catch {
    lacking('This user is not in the password database.');
  }
  expect(homeDirectory({ HOME: '/x' })).toBe('/x');
  expect(homeDirectory({})).toMatch(/^\//);
  vi.stubEnv('HOME', '');
  expect(homeDirectory({ HOME: '' })).toMatch(/^\//);
  vi.unstubAllEnvs();
  expect(userConfigPath({ HOME: '.' })).toMatch(/^\//);
});

it('a relative place for the config is none: a repository’s file would count as the user’s', () => {
  expect(userConfigPath({ HOME: '/x', XDG_CONFIG_HOME: '/c' })).toBe('/c/reaptop/config.json');
  for (const named of ['', '.', '.config'])
    expect(userConfigPath({ HOME: '/x', XDG_CONFIG_HOME: named })).toBe('/x/.config/reaptop/config.json');
});

describe('files that are no files', () => {
  it('the user’s config as a pipe is said in a sentence, at once', async () => {
    const path = join(dir, 'pipe.json');
    execFileSync('mkfifo', [path]);
    await expect(loadConfig({ HOME: dir }, path)).rejects.toThrow(
      /pipe\.json cannot be read \(not a regular file\)/,
    );
  });

  it('a device is not read either', async () => {
    await expect(loadConfig({ HOME: dir }, '/dev/zero')).rejects.toThrow(/not a regular file/);
  });

  it('a project’s file that leads out of the project is neither read nor quoted', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'reaptop-outside-'));
    writeFileSync(join(outside, 'shadow'), 'root:$y$j9T$verysecret:19000:0\n');
    symlinkSync(join(outside, 'shadow'), join(dir, '.reaptop.json'));
    const { warnings } = await loadRootSettings([dir]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/leads out of its directory/);
    expect(warnings[0]).not.toMatch(/root|verysecret/);
    rmSync(outside, { recursive: true });
  });

  it('a link that stays in the project is read', async () => {
    write('real.json', { protect: ['x'] });
    symlinkSync('real.json', join(dir, '.reaptop.json'));
    expect((await loadRootSettings([dir])).protect).toEqual(['x']);
  });

  it.skipIf(process.getuid?.() !== 0)('another user’s file is not read', async () => {
    write('.reaptop.json', { protect: ['x'] });
    chownSync(join(dir, '.reaptop.json'), 12345, 12345);
    const { protect, warnings } = await loadRootSettings([dir]);
    expect(protect).toEqual([]);
    expect(warnings[0]).toMatch(/belongs to another user/);
  });

  it('more patterns and sources than anyone writes are cut, with one warning', async () => {
    write('.reaptop.json', {
      protect: Array.from({ length: 1000 }, (_, i) => `p${i}`),
      heartbeats: Array.from({ length: 300 }, (_, i) => ({ name: `n${i}`, glob: `*.${i}` })),
    });
    const { protect, heartbeats, warnings } = await loadRootSettings([dir]);
    expect([protect.length, heartbeats.length]).toEqual([256, 64]);
    expect(warnings).toHaveLength(1);
  });
});
