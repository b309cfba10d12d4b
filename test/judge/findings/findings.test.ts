import { describe, expect, it } from 'vitest';
import { DEFAULT_CONFIG } from '../../../src/model/config-defaults.ts';
import type { Finding, FindingId } from '../../../src/model/finding.ts';
import { type Around, CLOCK, type Row, session, world, ZOMBIE } from '../../support/world.ts';

const GIB = 1024 ** 3;
const SERVER = 'node /opt/mcp-server-github';
const AGENT: Row = [1000, 80_001, 'claude'];

const found = (id: FindingId, rows: readonly Row[], around: Around = {}): Finding[] =>
  world(rows, around).snapshot.findings.filter(finding => finding.id === id);
const pids = (finding: Finding | undefined): number[] => finding?.processes.map(p => p.pid) ?? [];

describe('leak', () => {
  const GONE = { env: { CLAUDE_CODE_SESSION_ID: '9c33ca78-0000-4000-8000-000000000000' } };
  const OTHER = { env: { CLAUDE_CODE_SESSION_ID: '11112222-0000-4000-8000-000000000000' } };

  it('is one finding per program where no session is known, with everything below its roots', () => {
    const findings = found('leak', [
      [1000, 1, 'npx -y chroma-mcp'],
      [1001, 1000, 'chroma-mcp'],
      [1100, 1, 'npx -y chroma-mcp'],
      [2000, 1, SERVER],
    ]);
    expect(findings.map(pids)).toEqual([[1000, 1001, 1100], [2000]]);
    expect(findings[0]).toMatchObject({ severity: 'warn', action: 'clean' });
    expect(findings[0]?.title).toMatch(/^npx chroma-mcp: 3 leaked, \S+, oldest \S+$/);
    expect(findings[0]?.remedy).toMatch(/^end them: .* reclaimable$/);
    expect(findings[1]?.remedy).toMatch(/^end it: /);
  });

  it('is one finding per dead session, whatever it left', () => {
    const findings = found('leak', [
      [1000, 1, SERVER, GONE],
      [1001, 1, 'lean-lsp-mcp', GONE],
      [1002, 1, 'lean-lsp-mcp', OTHER],
      [1003, 1, 'lean-lsp-mcp'],
      [1004, 1, 'lean --worker', GONE],
      [1005, 1, 'node /opt/mcp-server-x', GONE],
    ]);
    expect(findings.map(pids)).toEqual([[1000, 1001, 1004, 1005], [1002], [1003]]);
    expect(findings[0]?.title).toMatch(/^session 9c33ca78: 4 leaked, \S+, oldest \S+$/);
    expect(findings[0]?.why).toMatch(/^.*, lean-lsp-mcp, .* and 1 more: /);
    expect(findings[1]?.title).toMatch(/^leaked: lean-lsp-mcp \(1002\), \S+, \S+ old$/);
  });

  it('is one finding for 80 orphans of one session', () => {
    const rows = Array.from({ length: 80 }, (_, n): Row => [1000 + n, 1, 'lean-lsp-mcp', GONE]);
    const findings = found('leak', rows);
    expect(findings.map(pids)).toEqual([rows.map(([pid]) => pid)]);
    expect(findings[0]?.title).toContain('80 leaked');
  });

  it.each([
    ['warn', GIB - 1],
    ['critical', GIB],
  ])('is %s when all leaks together hold %d bytes, swap included', (severity, bytes) => {
    const rows: Row[] = [
      [1000, 1, SERVER, { rss: bytes - 600, details: { swap: 100 } }],
      [2000, 1, 'lean-lsp-mcp', { rss: 500 }],
    ];
    expect(found('leak', rows).map(f => f.severity)).toEqual([severity, severity]);
  });

  it('counts no zombie', () => {
    expect(
      found('leak', [
        [1000, 1, SERVER],
        [1001, 1000, '[node]', ZOMBIE],
      ]).map(pids),
    ).toEqual([[1000]]);
  });
});

describe('zombie', () => {
  const children = (parent: number, count: number): Row[] =>
    Array.from({ length: count }, (_, n): Row => [parent + 1 + n, parent, '[lake.orig]', ZOMBIE]);

  it.each<[string, number, Row]>([
    ['warn', 1, AGENT],
    ['warn', 4, AGENT],
    ['critical', 5, AGENT],
    ['critical', 1, [1000, 80_001, 'lean-lsp-mcp']],
    ['critical', 1, [1000, 80_001, SERVER]],
  ])('is %s for %d below %j, and names the parent that owes the wait', (severity, count, parent) => {
    const [finding] = found('zombie', [parent, ...children(1000, count)]);
    expect(finding).toMatchObject({ severity, action: 'zombies' });
    expect(pids(finding)).toEqual([1000, ...children(1000, count).map(([pid]) => pid)]);
    expect(finding?.why).toContain('lake.orig');
  });

  it('says which session loses its server', () => {
    const rows: Row[] = [AGENT, [1100, 1000, 'lean-lsp-mcp'], ...children(1100, 1)];
    const [finding] = found('zombie', rows, { sessions: [session(1000, 'abc')] });
    expect(finding?.remedy).toContain('session abc');
  });

  it('is no matter of unrelated parents, PID 1 among them', () => {
    expect(found('zombie', [[1000, 1, 'nginx'], ...children(1000, 9), ...children(1, 1)])).toEqual([]);
  });
});

describe('duplicate-server', () => {
  it('warns of the same server twice for one parent, also through wrappers', () => {
    const [finding, ...others] = found('duplicate-server', [
      [1000, 80_001, 'gemini'],
      [1001, 1000, 'npm exec x-mcp'],
      [1002, 1001, SERVER],
      [1003, 1000, 'npm exec x-mcp'],
      [1004, 1003, SERVER],
    ]);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ severity: 'warn', action: 'end' });
    expect(pids(finding)).toEqual([1002, 1004]);
    expect(finding?.remedy).toContain('all but 1004');
  });

  it('informs of one project served for two live agents', () => {
    const [finding] = found('duplicate-server', [
      AGENT,
      [2000, 80_001, 'claude'],
      [1001, 1000, SERVER],
      [2001, 2000, SERVER],
    ]);
    expect(finding).toMatchObject({ severity: 'info', action: null });
    expect(pids(finding)).toEqual([1001, 2001]);
  });

  it('counts sessions that are served, not what a shared daemon runs for them', () => {
    const DAEMON = 'codex app-server --listen unix:// --managed-daemon';
    const shared: Row[] = [
      [3000, 80_001, DAEMON],
      [3001, 3000, SERVER],
      [3002, 3000, SERVER],
    ];
    expect(found('duplicate-server', [AGENT, [1001, 1000, SERVER], ...shared])).toEqual([]);
    const [finding] = found('duplicate-server', [
      AGENT,
      [1001, 1000, SERVER],
      [2000, 80_001, 'claude'],
      [2001, 2000, SERVER],
      ...shared,
    ]);
    expect(finding?.title).toContain('for 2 agents');
    expect(pids(finding)).toEqual([1001, 2001]);
  });

  it('says nothing of workers, of other directories, of orphans', () => {
    expect(
      found('duplicate-server', [
        AGENT,
        [1001, 1000, SERVER],
        [1002, 1001, SERVER],
        [1003, 1001, SERVER],
        [1004, 1000, SERVER, { details: { cwd: '/elsewhere' } }],
        [1005, 1, SERVER],
        [1006, 1, SERVER],
      ]),
    ).toEqual([]);
  });
});

describe('over-memory', () => {
  const limit = 2_000_000 * 1024;
  it.each([
    [0, limit - 1, 0],
    [1, limit, 0],
    [1, limit - 10, 10],
  ])('%d findings at %d bytes of RSS and %d of swap', (count, rss, swap) => {
    const findings = found('over-memory', [[1000, 80_001, 'opencode', { rss, details: { swap } }]]);
    expect(findings).toHaveLength(count);
    for (const finding of findings) expect(finding).toMatchObject({ severity: 'critical' });
  });

  it('names the command that stops a background session', () => {
    const env = { CLAUDE_JOB_DIR: '/home/me/.claude/jobs/9f8e7d6c' };
    const [finding] = found('over-memory', [[1000, 1, 'claude --bg', { rss: limit, env }]]);
    expect(finding).toMatchObject({
      action: 'stop-session',
      remedy: expect.stringContaining('claude stop 9f8e7d6c'),
    });
  });

  it('takes its limit from the config', () => {
    const thresholds = { ...DEFAULT_CONFIG.thresholds, 'over-memory': { limitBytes: 10 } };
    expect(found('over-memory', [AGENT], { config: { thresholds } })).toHaveLength(1);
  });
});

describe('too-many-agents', () => {
  const agents = (count: number, command = 'claude'): Row[] =>
    Array.from({ length: count }, (_, n): Row => [1000 + n, 80_001, command]);

  it('informs from the fourth of one family', () => {
    expect(found('too-many-agents', agents(3))).toEqual([]);
    expect(found('too-many-agents', agents(4))[0]).toMatchObject({ severity: 'info', action: null });
    expect(found('too-many-agents', [...agents(3), [2000, 80_001, 'codex']])).toEqual([]);
  });

  const sayings = (...told: readonly (readonly [string, number])[]) => ({
    sessions: told.map(([status, seconds], n) =>
      session(1000 + n, `id-${n}`, { status, statusUpdatedAt: (CLOCK - seconds) * 1000 }),
    ),
  });

  it('says how long each has been idle, longest first, and that busy and waiting ones are not', () => {
    const around = sayings(['busy', 9000], ['idle', 600], ['waiting', 8000], ['idle', 6660]);
    const [finding] = found('too-many-agents', agents(4), around);
    expect(finding?.why).toBe(
      'more than 3; idle: 1003 project (1h51m), 1001 project (10m); 1 busy; 1 waiting for you',
    );
    expect(finding?.remedy).toBe('end the idle sessions you no longer need');
  });

  it('advises to end nothing where none is known to be idle', () => {
    const [finding] = found('too-many-agents', agents(4), sayings(['busy', 1], ['waiting', 1]));
    expect(finding?.why).toBe('more than 3; none known to be idle; 1 busy; 1 waiting for you; 2 unknown');
    expect(finding?.remedy).not.toMatch(/^end /);
  });

  it('counts neither the dead nor Claude’s own helpers', () => {
    const rows: Row[] = [
      ...agents(3),
      [2000, 80_001, '[claude]', ZOMBIE],
      [2001, 1, 'claude daemon run'],
      [2002, 2001, 'claude --bg-spare /tmp/x'],
    ];
    expect(found('too-many-agents', rows)).toEqual([]);
    expect(world(rows).snapshot.totals.agents).toBe(3);
  });
});

describe('concurrent-builds', () => {
  const builds = (count: number): Row[] =>
    Array.from({ length: count }, (_, n): Row => [1000 + n, 80_001, 'lake build']);

  it.each([
    [1, undefined],
    [2, 'warn'],
    [3, 'warn'],
    [4, 'critical'],
  ])('%d in one project: %s', (count, severity) => {
    const [finding] = found('concurrent-builds', builds(count));
    expect(finding?.severity).toBe(severity);
    if (finding !== undefined) expect(finding.remedy).toContain(`newer ones: 1001`);
  });

  it('keeps projects apart, and takes no wrapper, server or unknown directory for a build', () => {
    expect(
      found('concurrent-builds', [
        [1000, 80_001, 'lake build'],
        [1001, 80_001, 'lake build', { details: { cwd: '/elsewhere' } }],
        [1002, 80_001, 'timeout 60 lake build'],
        [1003, 80_001, 'bash -c lake build'],
        [1004, 80_001, 'tee lake build'],
        [1005, 80_001, 'lake serve'],
        [1006, 80_001, 'lake build', { details: null }],
        [1007, 80_001, 'lake build', { details: null }],
      ]),
    ).toEqual([]);
  });
});

describe('stopped', () => {
  it('warns of state T, not of a process under a debugger', () => {
    const rows: Row[] = [
      [1000, 80_001, 'claude', { state: 'T' }],
      [1001, 80_001, 'claude', { state: 't' }],
    ];
    expect(found('stopped', rows).map(pids)).toEqual([[1000]]);
    expect(found('stopped', rows)[0]).toMatchObject({ severity: 'warn', action: 'continue' });
  });
});

it('the worst comes first', () => {
  const { snapshot } = world([
    [1000, 1, SERVER],
    [1001, 80_001, 'claude', { rss: 4 * GIB }],
  ]);
  expect(snapshot.findings.map(f => f.severity)).toEqual(['critical', 'warn']);
});
