import { describe, expect, it, test } from 'vitest';
import { doctorText } from '../../../src/commands/doctor.ts';
import { versionIn } from '../../../src/judge/health/agents.ts';
import { type CheckId, checkHealth, HEALTH_CHECKS } from '../../../src/judge/health/checks.ts';
import type { HealthFacts, InstalledHooks, StateFacts } from '../../../src/model/health.ts';
import { cells } from '../../../src/model/text.ts';

const GIB = 1024 ** 3;

const STATE: StateFacts & { kind: 'there' } = {
  kind: 'there',
  path: '/home/me/.local/state/reaptop',
  elsewhere: null,
  is: 'directory',
  ours: true,
  mode: 0o700,
  writable: true,
  free: 50 * GIB,
};

const HOOKS: InstalledHooks = {
  path: '/home/me/.claude/settings.json',
  events: 8,
  missing: [],
  broken: null,
  current: true,
  unreadable: null,
};

const WELL: HealthFacts = {
  proc: { kind: 'mounted', hidepid: null },
  look: { ok: true, processes: 300, agents: 2, closed: [], hidden: 100 },
  tmux: { version: 'tmux 3.4', answered: 1, silent: [] },
  mac: null,
  unixSockets: true,
  watch: { failed: null, watches: 65_536, instances: 128 },
  state: STATE,
  config: { path: '/home/me/.config/reaptop/config.json', present: true, wrong: null, ignored: [] },
  pressure: {
    memTotal: 32 * GIB,
    memAvailable: 16 * GIB,
    swapTotal: 8 * GIB,
    swapUsed: 0,
    waited: 0,
    level: null,
  },
  leanProjects: [{ path: '/home/me/proofs', toolchain: 'leanprover/lean4:v4.27.0' }],
  leanServers: [{ where: 'pid 41', version: '0.30.0', project: '/home/me/proofs' }],
  timers: [],
  hooks: [HOOKS],
  plugin: null,
  guard: { running: { pid: 7, since: 0 }, held: null, lookAge: 5, fresh: true },
  recorder: { segments: 3, bytes: 1000, age: 9 },
  strangeFiles: [],
};

const PLUGIN = { path: '/home/me/.claude/skills/reaptop', current: true, unusable: null };

const MAC = { processes: 3, files: 3, jobs: 3, environments: 1, boot: true };

/** A machine that differs, the check that must say so, how loud, and a word of what it says. */
const UNWELL: readonly [CheckId, 'warn' | 'fail', RegExp, Partial<HealthFacts>][] = [
  ['proc', 'fail', /not mounted/, { proc: { kind: 'missing' } }],
  ['proc', 'warn', /hidepid=2/, { proc: { kind: 'mounted', hidepid: '2' } }],
  ['processes', 'fail', /EMFILE/, { look: { ok: false, why: 'EMFILE' } }],
  [
    'processes',
    'warn',
    /6 processes of your own .*\(1, 2, 3, 4, 5 and more\)/,
    { look: { ok: true, processes: 9, agents: 0, closed: [1, 2, 3, 4, 5, 6], hidden: 0 } },
  ],
  ['macos', 'warn', /does not name this boot/, { mac: { ...MAC, boot: false } }],
  ['macos', 'warn', /lsof does not answer/, { mac: { ...MAC, files: 0 } }],
  ['macos', 'warn', /launchctl does not answer/, { mac: { ...MAC, jobs: 0 } }],
  ['sockets', 'warn', /suspect/, { unixSockets: false }],
  ['tmux', 'warn', /not in PATH/, { tmux: { version: null, answered: 0, silent: [] } }],
  ['tmux', 'fail', /server runs/, { tmux: { version: null, answered: 0, silent: ['server 7'] } }],
  ['tmux', 'fail', /did not answer/, { tmux: { version: 'tmux 3.4', answered: 1, silent: ['/tmp/s'] } }],
  ['tmux', 'warn', /older/, { tmux: { version: 'tmux 2.9a', answered: 0, silent: [] } }],
  ['inotify', 'fail', /cannot be watched/, { watch: { failed: 'EMFILE', watches: 9, instances: 9 } }],
  ['inotify', 'warn', /only 128/, { watch: { failed: null, watches: 128, instances: 9 } }],
  ['state', 'fail', /no place/, { state: { kind: 'nowhere', why: 'HOME is not set' } }],
  ['state', 'fail', /not a directory/, { state: { ...STATE, is: 'other' } }],
  ['state', 'fail', /another user/, { state: { ...STATE, ours: false } }],
  ['state', 'fail', /cannot be written/, { state: { ...STATE, writable: false } }],
  ['state', 'fail', /full/, { state: { ...STATE, free: 4096 } }],
  ['state', 'warn', /0755/, { state: { ...STATE, mode: 0o755 } }],
  ['state', 'warn', /only 50\.0 MiB/, { state: { ...STATE, free: 50 * 1024 ** 2 } }],
  ['state', 'warn', /instead/, { state: { ...STATE, elsewhere: '/x is used instead' } }],
  ['config', 'fail', /theme/, { config: { ...WELL.config, wrong: 'c.json: theme: wrong' } }],
  ['config', 'warn', /ignored/, { config: { ...WELL.config, ignored: ['/p/.reaptop.json is ignored'] } }],
  ['memory', 'fail', /memory available/, { pressure: { ...WELL.pressure, memAvailable: 0.5 * GIB } }],
  ['memory', 'warn', /memory available/, { pressure: { ...WELL.pressure, memAvailable: 3 * GIB } }],
  ['memory', 'warn', /swap used/, { pressure: { ...WELL.pressure, swapUsed: 5 * GIB } }],
  [
    'memory',
    'warn',
    /reports memory pressure: critical/,
    { pressure: { ...WELL.pressure, level: 'critical' } },
  ],
  ['memory', 'warn', /waited for memory 25 %/, { pressure: { ...WELL.pressure, waited: 25 } }],
  [
    'lean-toolchain',
    'warn',
    /v4\.25\.0/,
    { leanProjects: [{ path: '/p', toolchain: 'leanprover/lean4:v4.25.0' }] },
  ],
  [
    'lean-lsp-mcp',
    'warn',
    /0\.23\.9/,
    { leanServers: [{ where: 'pid 3', version: '0.23.9', project: null }] },
  ],
  [
    'lean-servers',
    'warn',
    /2 servers on \/p \(pid 3, pid 4\)/,
    { leanServers: [3, 4].map(pid => ({ where: `pid ${pid}`, version: '0.30.0', project: '/p' })) },
  ],
  ['claude-refresh', 'warn', /every hour/, { timers: [{ path: '/u/claude-refresh.timer', enabled: true }] }],
  ['claude-refresh', 'warn', /not enabled/, { timers: [{ path: '/u/x.service', enabled: false }] }],
  [
    'hooks',
    'fail',
    /start \/gone\/node, which is not there/,
    { hooks: [{ ...HOOKS, broken: '/gone/node' }] },
  ],
  ['hooks', 'warn', /not as this reaptop/, { hooks: [{ ...HOOKS, current: false }] }],
  ['hooks', 'warn', /not as this reaptop/, { hooks: [], plugin: { ...PLUGIN, current: false } }],
  ['hooks', 'warn', /and in the plugin/, { plugin: PLUGIN }],
  ['hooks', 'warn', /a file of yours/, { hooks: [], plugin: { ...PLUGIN, unusable: 'a file of yours' } }],
  ['hooks', 'warn', /not valid JSON/, { hooks: [{ ...HOOKS, unreadable: 'it is not valid JSON' }] }],
  ['guard', 'fail', /guard is held: x/, { guard: { ...WELL.guard, held: 'x' } }],
  ['guard', 'fail', /last sample was 2m ago/, { guard: { ...WELL.guard, lookAge: 120, fresh: false } }],
  ['recorder', 'warn', /nothing is recorded/, { recorder: { segments: 0, bytes: 0, age: null } }],
  ['recorder', 'warn', /more than is kept/, { recorder: { ...WELL.recorder, bytes: GIB } }],
  ['recorder', 'warn', /though guard runs/, { recorder: { ...WELL.recorder, age: 4000 } }],
  ['claude-files', 'warn', /4\.json/, { strangeFiles: ['/home/me/.claude/sessions/4.json'] }],
];

describe('doctor', () => {
  test('a machine that is well gets ok on every line and nothing to do', () => {
    expect(checkHealth(WELL).filter(check => check.level !== 'ok' || check.todo !== null)).toEqual([]);
  });

  test.each(UNWELL)('%s says %s: %s', (id, level, words, differs) => {
    const checks = checkHealth({ ...WELL, ...differs });
    const bad = checks.filter(check => check.level !== 'ok');
    expect(bad.map(check => [check.id, check.level])).toEqual([[id, level]]);
    expect(bad[0]!.says).toMatch(words);
    expect(bad[0]!.todo).toBeTruthy();
  });

  test('every check there is can fail', () => {
    const tried = new Set(UNWELL.map(([id]) => id));
    expect(Object.keys(HEALTH_CHECKS).filter(id => !tried.has(id as CheckId))).toEqual([]);
  });

  test('a Mac that is well says what it gives', () => {
    const said = (mac: typeof MAC) => checkHealth({ ...WELL, mac }).find(({ id }) => id === 'macos');
    expect(said(MAC)).toMatchObject({ level: 'ok', says: expect.stringContaining('3 of 3 processes') });
    expect(said({ ...MAC, processes: 0, files: 0, jobs: 0 })).toMatchObject({ level: 'ok' });
  });

  it('says nothing of what is not there', () => {
    const bare = checkHealth({
      ...WELL,
      proc: { kind: 'none', platform: 'darwin' },
      watch: { failed: null, watches: null, instances: null },
      pressure: {
        memTotal: null,
        memAvailable: null,
        swapTotal: null,
        swapUsed: null,
        waited: null,
        level: null,
      },
      config: { path: null, present: false, wrong: null, ignored: [] },
      leanProjects: [],
      leanServers: [],
      guard: { running: null, held: null, lookAge: null, fresh: false },
      recorder: { segments: 0, bytes: 0, age: null },
    });
    expect(bare.filter(check => check.level !== 'ok')).toEqual([]);
  });

  test.each([
    ['leanprover/lean4:v4.25.0-rc2', [4, 25]],
    ['v4.9.0', [4, 9]],
    ['leanprover/lean4:4.26.0', [4, 26]],
    ['leanprover/lean4:nightly-2026-01-02', null],
    ['0.24.0', [0, 24]],
    ['', null],
  ])('reads the version in %j', (text, version) => expect(versionIn(text)).toEqual(version));

  test.each([40, 80, 200])('every line fits into %d columns, and each remedy is shown', width => {
    const checks = UNWELL.map(
      ([id, , , differs]) => checkHealth({ ...WELL, ...differs }).find(c => c.id === id)!,
    );
    const text = doctorText(checks, width, false);
    for (const line of text.split('\n')) expect(cells(line)).toBeLessThanOrEqual(width);
    expect(text.match(/→/g)).toHaveLength(UNWELL.length);
    expect(text).toMatch(/0 ok, \d+ warnings, \d+ failed\n$/);
  });
});
