import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { report } from '../../src/commands/report.ts';
import type { Finding, FindingId } from '../../src/model/finding.ts';
import type { Heartbeat } from '../../src/model/heartbeat.ts';
import { REPORT_GROUPS } from '../../src/model/report.ts';
import type { Snapshot } from '../../src/model/snapshot.ts';
import { cells } from '../../src/model/text.ts';
import { Recorder } from '../../src/remember/recorder/recorder.ts';
import { BUSY, type HungCall, withHungCall } from '../support/hung-call.ts';
import { Sandbox } from '../support/sandbox.ts';
import { CLOCK, type Row, tmux, world, ZOMBIE } from '../support/world.ts';

/** The scripted day: what the machine went through, minute by minute from 08:00. */
const MORNING = Date.UTC(2026, 10, 16, 8, 0, 0);
const EVENING = MORNING + 10 * 3_600_000;
const MIB = 1024 ** 2;

let sandbox: Sandbox;
let state: string;
beforeEach(() => {
  sandbox = new Sandbox();
  state = join(sandbox.home, '.local/state/reaptop');
  mkdirSync(state, { recursive: true, mode: 0o700 });
});
afterEach(() => sandbox.close());

const AGENTS: readonly Row[] = [
  [200, 1, 'tmux new', { comm: 'tmux: server', argv: ['tmux'] }],
  [210, 200, '-zsh', { tty: 'pts/0' }],
  [220, 200, '-zsh', { tty: 'pts/1' }],
  [300, 210, 'claude', { tty: 'pts/0', rss: 400 * MIB, details: { cwd: '/home/me/proofs' } }],
  [310, 220, 'claude', { tty: 'pts/1', rss: 300 * MIB, details: { cwd: '/home/me/site' } }],
];
const LEAK: Row = [400, 1, 'npx -y chroma-mcp', { rss: 50 * MIB }];
const PASSING: Row = [401, 1, 'npx -y @playwright/mcp', { rss: 20 * MIB }];
const ZOMBIES: readonly Row[] = [501, 502, 503].map(pid => [pid, 300, '[lake.orig]', ZOMBIE]);

const hang = (id: FindingId, pid: number): Finding => ({
  id,
  severity: 'critical',
  title: 'silent',
  why: 'no beat',
  processes: [{ pid, start: `${pid}00` }],
  files: [],
  remedy: 'look',
  action: null,
});

const at = (minute: number, extra: readonly Row[], findings: readonly Finding[] = []): Snapshot => {
  const { snapshot } = world([...AGENTS, ...extra], {
    takenAt: MORNING + minute * 60_000,
    clock: CLOCK + minute * 60,
    tmux: [tmux(200, [210, 220])],
    all: false,
  });
  const kept = snapshot.findings.filter(finding => finding.id === 'leak');
  return { ...snapshot, findings: [...kept, ...findings] };
};

const act = (minute: number, outcomes: readonly unknown[], freed: number, by = 'clean'): string =>
  `${JSON.stringify({ time: new Date(MORNING + minute * 60_000).toISOString(), schema: 1, event: 'outcome', id: `a${minute}`, by, outcomes, freed })}\n`;

const ended = (pid: number, freed: number, extra: object = {}) => ({
  pid,
  start: `${pid}00`,
  name: 'server',
  kind: 'mcp',
  agent: null,
  verdict: 'leak',
  cwd: '/home/me/proofs',
  outcome: 'ended',
  freed,
  ...extra,
});

/** A leak that is cleaned, one that goes by itself, a hang that somebody ends, one that passes, zombies. */
const scriptedDay = async (): Promise<void> => {
  const recorder = new Recorder({ directory: state, monotonic: () => 0 });
  const silent = [hang('heartbeat-stale', 310)];
  const stuck = [hang('marker-age', 300)];
  const moments: Snapshot[] = [
    at(0, []),
    at(10, [LEAK]),
    at(20, [LEAK, PASSING], silent),
    at(30, [], silent),
    at(33, []), // 310 was ended at 32: thirteen minutes
    at(60, ZOMBIES, stuck),
    at(65, ZOMBIES), // the marker went by itself after five minutes
    at(90, []),
  ];
  for (const moment of moments) await recorder.record(moment);
  sandbox.write(
    'home/.local/state/reaptop/audit.jsonl',
    `{"time":"${new Date(MORNING).toISOString()}","event":"intent","id":"a21"}\n${act(21, [ended(400, 50 * MIB, { kind: 'wrapper' })], 50 * MIB)}${act(32, [ended(310, 0, { kind: 'agent', agent: 'claude', verdict: 'live', cwd: '/home/me/site' })], 10 * MIB, 'tui')}{"torn`,
    0o600,
  );
};

const told = (options: Partial<Parameters<typeof report>[0]> = {}, env = {}): string => {
  let text = '';
  const all = {
    sinceMs: 12 * 3_600_000,
    by: 'day',
    json: false,
    width: 80,
    color: false,
    ...options,
  } as const;
  const code = report(all, {
    env: { ...sandbox.env, LANG: 'C.UTF-8', LC_ALL: '', ...env },
    now: EVENING,
    out: {
      write(more: string): void {
        text += more;
      },
    },
  });
  expect(code).toBe(0);
  return text;
};

test('a recorded week: a group for each day, and a day on which guard was off has no figures', async () => {
  const days = 7;
  const off = 3;
  const recorder = new Recorder({ directory: state, monotonic: () => 0 });
  const start = EVENING - days * 86_400_000;
  const { snapshot: calm } = world([...AGENTS], { takenAt: start, all: false });
  const { snapshot: leaky } = world([...AGENTS, LEAK], { takenAt: start, all: false });
  // A picture every ten minutes; guard records sixty times as many.
  for (let step = 0; step < days * 144; step += 1) {
    const day = Math.floor(step / 144);
    if (day === off) continue;
    const takenAt = start + step * 600_000;
    await recorder.record({ ...(step % 144 === 70 ? leaky : calm), takenAt });
  }
  const from = process.cpuUsage();
  const json = JSON.parse(told({ json: true, sinceMs: days * 86_400_000 }));
  const { user, system } = process.cpuUsage(from);
  expect(json).toMatchObject({ moments: 6 * 144, leaksSeen: 1, agentsAtOnce: 2 });
  expect(json.series.agents.filter((value: number | null) => value === null).length).toBeGreaterThanOrEqual(
    6,
  );
  // A tenth of a second on a quiet machine.
  expect((user + system) / 1e6).toBeLessThan(2);
});

describe('the share of partial results', () => {
  const meta = (task: string, status: string, state: Heartbeat['state'] = 'fine'): Heartbeat => ({
    ...{ path: `/home/me/proofs/specs/${task}/.return-meta.json`, format: 'return-meta', state },
    ...{ reason: null, ageSeconds: 5, sessionId: `session-${task}`, task, phase: null, operation: null },
    ...{ proof: null, status, counters: {}, agent: null },
  });
  const partial = async (...moments: readonly (readonly Heartbeat[])[]) => {
    const recorder = new Recorder({ directory: state, monotonic: () => 0 });
    for (const [minute, heartbeats] of moments.entries())
      await recorder.record({ ...at(minute, []), heartbeats });
    const { targets } = JSON.parse(told({ json: true }));
    return targets[1] as { measured: string; met: boolean | null };
  };

  test.each([
    ['none ended early', [meta('1', 'implemented'), meta('2', 'in_progress')], 'no data', null],
    ['every one is partial', [meta('1', 'partial')], '100 %', true],
    ['one failed, one is blocked', [meta('1', 'failed'), meta('2', 'blocked')], '0 %', false],
    [
      'one was never heard of again',
      [meta('1', 'partial'), meta('2', 'in_progress', 'leftover')],
      '50 %',
      false,
    ],
  ] as const)('%s', async (_, heartbeats, measured, met) => {
    expect(await partial(heartbeats)).toMatchObject({ measured, met });
  });

  test('what a run came to in the end counts, once', async () => {
    const early = [meta('1', 'in_progress'), meta('2', 'failed')];
    expect(await partial(early, [meta('1', 'partial'), meta('2', 'partial')], [])).toMatchObject({
      measured: '100 %',
      met: true,
    });
  });
});

describe('report after a scripted day', () => {
  beforeEach(scriptedDay);

  it('tells exactly the numbers of the script', () => {
    const json = JSON.parse(told({ json: true }));
    expect(json).toMatchObject({
      schema: 1,
      moments: 8,
      sessions: 2,
      leaksSeen: 2,
      leaksCleared: 1,
      freed: 60 * MIB,
      zombiePeak: 3,
      zombiesPerSession: 1.5,
      falseAlarms: 2, // the leak that went, the marker that went
      agentsAtOnce: 2,
      buildsAtOnce: 0,
      tmuxSessions: 1,
      agentsNow: 2,
      workspaceBytes: null,
    });
    expect(json.hangs).toEqual([
      { id: 'heartbeat-stale', from: '2026-11-16T08:20:00.000Z', seconds: 780, ended: 'act' },
      { id: 'marker-age', from: '2026-11-16T09:00:00.000Z', seconds: 300, ended: 'itself' },
    ]);
    expect(json.targets.map(({ met }: { met: boolean | null }) => met)).toEqual([
      false,
      null,
      true,
      true,
      true,
    ]);
    expect(json.warnings).toEqual(['1 line of the audit log could not be read.']);
  });

  test.each([
    ['kind', { wrapper: [2, 1], agent: [0, 1] }],
    ['project', { proofs: [1, 1], site: [0, 1], project: [2, 0] }],
    ['agent', { claude: [0, 1], none: [2, 1] }],
  ] as const)('by %s', (by, wanted) => {
    const { groups } = JSON.parse(told({ json: true, by }));
    const found = Object.fromEntries(
      groups.map((g: { name: string; leaks: number; cleared: number }) => [g.name, [g.leaks, g.cleared]]),
    );
    expect(found).toEqual(expect.objectContaining(wanted));
  });

  test.each([80, 120])('as text of %d columns', async width => {
    sandbox.write('home/.claude-orchestrator/workspaces/TASK-1/log', 'x'.repeat(2048));
    const text = told({ width });
    await expect(text).toMatchFileSnapshot(`__snapshots__/report-${width}.txt`);
    for (const line of text.split('\n')) expect(cells(line)).toBeLessThanOrEqual(width);
    expect(text.split('\n').length).toBeLessThanOrEqual(26);
  });

  test.each(REPORT_GROUPS)('in the C locale, by %s, is ASCII and fits', by => {
    const text = told({ by }, { LANG: 'C' });
    expect(text).toMatch(/^[\x20-\x7e\n]*$/);
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });
});

describe('report', () => {
  it('shows the days without data when nothing was recorded', () => {
    const text = told({ sinceMs: 7 * 86_400_000 });
    expect(text).toMatch(/Nothing was recorded in this time/);
    expect(text.match(/^2026-11-\d\d +0 +0 /gm)).toHaveLength(8);
    expect(told({}, { HOME: undefined, XDG_STATE_HOME: undefined })).toMatch(/^reaptop report/);
  });

  it('says how many sessions were put to sleep, and what that gave back', () => {
    const line = JSON.parse(act(1, [ended(2, 7)], 7 * MIB, 'sleep'));
    const sessions = [
      { act: 'sleep', outcome: 'done' },
      { act: 'sleep', outcome: 'skipped' },
    ];
    const text = `${JSON.stringify({ ...line, sessions })}\n${act(2, [ended(3, 8)], 8)}`;
    sandbox.write('home/.local/state/reaptop/audit.jsonl', text, 0o600);
    expect(JSON.parse(told({ json: true })).slept).toEqual({ sessions: 1, freed: 7 * MIB });
    expect(told({})).toMatch(/asleep\s+1 session put to sleep, 7(\.0)? MiB of that/);
  });

  it('reads rotated logs, passes over what is wrong in them, and counts nothing older', () => {
    sandbox.write('home/.local/state/reaptop/audit.2.jsonl', act(-1000, [ended(1, 5)], 5), 0o600);
    sandbox.write('home/.local/state/reaptop/audit.1.jsonl', `${act(1, [ended(2, 7)], 7)}null\n[]\n`, 0o600);
    sandbox.write(
      'home/.local/state/reaptop/audit.jsonl',
      act(2, [ended(3, 8), 'x', { pid: 'y' }], 8),
      0o600,
    );
    const json = JSON.parse(told({ json: true }));
    expect(json).toMatchObject({ leaksSeen: 2, leaksCleared: 2, freed: 15 });
    expect(json.warnings[0]).toBe('2 lines of the audit log could not be read.');
  });

  it('adds up 10,000 acts within 0.4 s of CPU', () => {
    const acts = Array.from({ length: 10_000 }, (_, n) => act(n / 20, [ended(1000 + n, 10)], 10)).join('');
    sandbox.write('home/.local/state/reaptop/audit.jsonl', acts, 0o600);
    const before = process.cpuUsage();
    const json = JSON.parse(told({ json: true }));
    const { user, system } = process.cpuUsage(before);
    expect(json).toMatchObject({ leaksSeen: 10_000, leaksCleared: 10_000, freed: 100_000 });
    expect((user + system) / 1e6).toBeLessThan(0.4);
  });
});

test('hung calls are counted once each, by tool and server; a slow one is no hang', async () => {
  const recorder = new Recorder({ directory: state, monotonic: () => 0 });
  const minute = (n: number, call: HungCall): Snapshot => {
    const snapshot = withHungCall(call);
    return { ...snapshot, takenAt: MORNING + n * 60_000, clock: CLOCK + n * 60 };
  };
  for (const n of [0, 1, 2]) await recorder.record(minute(n, {}));
  await recorder.record(minute(3, { past: BUSY }));
  const { hangs, hungTools } = JSON.parse(told({ json: true })) as {
    hangs: { id: string }[];
    hungTools: object[];
  };
  expect(hangs.map(({ id }) => id)).toEqual(['call-hung']);
  expect(hungTools).toMatchObject([{ tool: 'lean_diagnostic_messages', server: 'lean-lsp', calls: 1 }]);
  expect(told()).toMatch(/hung tools +lean-lsp lean_diagnostic_messages 1 \(longest/);
});
