import { describe, expect, it } from 'vitest';
import { EVIDENCE } from '../../../src/agents/families.ts';
import { DEFAULT_CONFIG } from '../../../src/model/config-defaults.ts';
import { ENV_NAMES } from '../../../src/model/process.ts';
import { type Extra, type Row, remembered, world } from '../../support/world.ts';

const LOGIN = 80_001;
const CODEX_ID = '019a2b3c-1244-7e57-8cc8-184e144261c7';
const CODEX_DAEMON =
  '/home/me/.codex/packages/app-server-daemon/releases/0.166.0/bin/codex app-server --listen unix:// --managed-daemon';

/** A `sleep` at PID 1 with these variables, started at 5000. */
const orphan = (env: Extra['env'], others: readonly Row[] = []) =>
  world([...others, [5000, 1, 'sleep 3001', { env: env ?? null }]]).at(5000);

describe('the marks of each family', () => {
  it('are read, and no secret is among the names that are read', () => {
    for (const { marks } of EVIDENCE) for (const mark of marks) expect(ENV_NAMES).toContain(mark);
    for (const name of ENV_NAMES) expect(name).not.toMatch(/TOKEN|KEY|SECRET|PASS/);
  });

  it('prove nothing for codex, because codex-acp sets them too', () => {
    expect(orphan({ CODEX_SESSION_ID: CODEX_ID })).toMatchObject({
      verdict: 'suspect',
      owner: { sessionId: CODEX_ID, how: 'environ', alive: false },
    });
    expect(orphan({ CODEX_THREAD_ID: CODEX_ID }).verdict).toBe('suspect');
  });

  it('name an older running codex', () => {
    const env = { CODEX_SESSION_ID: CODEX_ID };
    const found = orphan(env, [[1000, LOGIN, 'codex']]);
    expect(found.verdict).toBe('suspect');
    expect(found.why.join()).toContain('codex (1000)');
    expect(orphan(env, [[1000, 1, CODEX_DAEMON]]).verdict).toBe('suspect');
    expect(orphan(env, [[6000, LOGIN, 'codex']]).verdict).toBe('suspect');
  });

  it('are alive when an older codex resumed the same session', () => {
    expect(orphan({ CODEX_SESSION_ID: CODEX_ID }, [[1000, LOGIN, `codex resume ${CODEX_ID}`]])).toMatchObject(
      { verdict: 'live', owner: { pid: 1000, how: 'environ', alive: true } },
    );
  });

  it('name the pid of opencode, dead or alive, whatever else runs', () => {
    const env = { OPENCODE: '1', OPENCODE_PID: '1000' };
    expect(orphan(env).verdict).toBe('leak');
    expect(orphan(env, [[1001, LOGIN, 'opencode']]).verdict).toBe('leak');
    // OpenCode Desktop's sidecar, and whatever else sets the mark: it runs, and it is older.
    expect(orphan(env, [[1000, LOGIN, '/opt/OpenCode/opencode-cli']]).verdict).toBe('live');
    expect(orphan(env, [[1000, LOGIN, 'vim', { born: 6000 }]]).verdict).toBe('leak');
    expect(orphan(env, [[1000, LOGIN, '[opencode]', { state: 'Z' }]]).verdict).toBe('leak');
    expect(orphan(env, [[1000, LOGIN, 'opencode']])).toMatchObject({
      verdict: 'live',
      owner: { pid: 1000, how: 'environ' },
    });
  });

  it('of a live claude session count also in a session with its own id', () => {
    const resumed: Row = [
      5000,
      1,
      `claude --resume ${CODEX_ID}`,
      { env: { CLAUDE_CODE_SESSION_ID: CODEX_ID, CLAUDE_PID: '1000', OPENCODE_PID: '1000' } },
    ];
    expect(world([[1000, LOGIN, 'claude'], resumed]).at(5000).verdict).toBe('live');
    expect(world([[6000, LOGIN, 'claude'], resumed]).at(5000).verdict).toBe('leak');
  });

  it('prove nothing for opencode without a pid', () => {
    expect(orphan({ OPENCODE: '1' }, [[1000, LOGIN, 'opencode']]).verdict).toBe('unknown');
    expect(orphan({ OPENCODE: '1' }).verdict).toBe('suspect');
  });

  it('name the pid of the copilot session', () => {
    const env = { COPILOT_AGENT_SESSION_ID: CODEX_ID, COPILOT_LOADER_PID: '1000' };
    expect(orphan(env)).toMatchObject({ verdict: 'leak', owner: { pid: 1000, sessionId: CODEX_ID } });
    expect(orphan(env, [[1001, LOGIN, 'copilot']]).verdict).toBe('leak');
    expect(orphan(env, [[1000, LOGIN, 'copilot']])).toMatchObject({
      verdict: 'live',
      owner: { pid: 1000, how: 'environ' },
    });
  });

  it('prove nothing for gemini, which names no session', () => {
    expect(orphan({ GEMINI_CLI: '1' }).verdict).toBe('suspect');
    expect(orphan({ GEMINI_CLI: '1' }, [[1000, LOGIN, 'gemini']]).verdict).toBe('unknown');
    expect(orphan({ GEMINI_CLI: '1' }, [[6000, LOGIN, 'gemini']]).verdict).toBe('suspect');
  });
});

describe('evidence that speaks together', () => {
  const CLAUDE_DEAD = { CLAUDE_PID: '77' };

  it('a live owner by any of it decides, whatever the rest says', () => {
    const env = { ...CLAUDE_DEAD, OPENCODE_PID: '1000' };
    expect(orphan(env, [[1000, LOGIN, 'opencode']]).verdict).toBe('live');
    const both: Row[] = [
      [1000, LOGIN, 'claude'],
      [2000, LOGIN, 'codex'],
      [5000, 2000, 'java'],
    ];
    const after: Row[] = [
      [1000, LOGIN, 'claude'],
      [5000, 1, 'java', { env: { CLAUDE_PID: '1000' } }],
    ];
    const lineage = remembered(world(both));
    expect(world(after, { lineage }).at(5000)).toMatchObject({
      verdict: 'live',
      owner: { pid: 1000, how: 'environ' },
    });
  });

  it('dead is only who is dead by all of it: where they disagree it is suspect', () => {
    expect(orphan({ ...CLAUDE_DEAD, OPENCODE_PID: '78' }).verdict).toBe('leak');
    const env = { ...CLAUDE_DEAD, CODEX_SESSION_ID: CODEX_ID };
    expect(orphan(env).verdict).toBe('suspect');
    const found = orphan(env, [[1000, LOGIN, 'codex']]);
    expect(found.verdict).toBe('suspect');
    expect(found.why.join()).toMatch(/Claude|claude 77/);
    expect(found.why.join()).toContain('codex (1000)');
  });

  it('having been seen below an agent that ended is proof, beside an environment that proves nothing', () => {
    const before = world([
      [1000, LOGIN, 'claude'],
      [2000, LOGIN, 'claude'],
      [5000, 2000, 'java'],
    ]);
    const rows: Row[] = [
      [1000, LOGIN, 'claude'],
      [5000, 1, 'java', { env: { CLAUDE_CODE_SESSION_ID: 'gone' } }],
    ];
    expect(world(rows).verdict(5000)).toBe('suspect');
    expect(world(rows, { lineage: remembered(before) }).verdict(5000)).toBe('leak');
  });
});

describe('programs of an agent without a session', () => {
  const MARKS = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'ended' };

  it.each(['claude daemon run', 'claude agents', 'claude bg-spare', 'claude bg-pty-host'])(
    '%s is no reason to doubt that a session has ended',
    command => {
      expect(orphan(MARKS, [[1000, LOGIN, command]]).verdict).toBe('leak');
      expect(orphan({ CLAUDECODE: '1' }, [[1000, LOGIN, command]]).verdict).toBe('suspect');
    },
  );

  it('are not counted as agents', () => {
    const rows: Row[] = [
      [1000, 1, 'claude daemon run'],
      [1001, LOGIN, 'claude agents'],
      [1002, 1, CODEX_DAEMON],
      [1003, 1, 'codex app-server daemon pid-update-loop'],
      [1004, LOGIN, 'claude'],
    ];
    expect(world(rows).snapshot.totals.agents).toBe(1);
    const { findings } = world(rows, {
      config: { thresholds: { ...DEFAULT_CONFIG.thresholds, 'too-many-agents': { count: 0 } } },
    }).snapshot;
    expect(findings.filter(f => f.id === 'too-many-agents').map(f => f.title)).toEqual([
      '1 claude agents run',
    ]);
  });
});

it('the hub of cline is not counted beside the sessions that share it', () => {
  const { snapshot, verdict } = world([
    [1000, LOGIN, 'cline'],
    [1001, 1000, '/x/@cline/cli-linux-x64/bin/cline --cline-hub-daemon --port 25463'],
    [1002, 1001, 'node /opt/mcp-server-github'],
    [1003, 1001, 'node /opt/mcp-server-github'],
  ]);
  expect(snapshot.totals.agents).toBe(1);
  expect(verdict(1002)).toBe('live');
  expect(snapshot.processes.find(p => p.facts.pid === 1002)?.owner?.pid).toBe(1001);
  expect(snapshot.findings.filter(f => f.id === 'duplicate-server')).toEqual([]);
});

describe('the codex daemon', () => {
  const TWO: Row[] = [
    [1000, LOGIN, 'codex'],
    [1100, 1000, CODEX_DAEMON],
    [1101, 1100, 'codex app-server daemon pid-update-loop'],
    [1200, 1100, 'node /opt/mcp-server-github'],
    [2000, LOGIN, 'codex'],
    [2200, 1100, 'node /opt/mcp-server-github'],
    [2201, 2200, 'node helper.js'],
  ];
  const FIRST_ENDED = TWO.filter(([pid]) => pid !== 1000).map(
    ([pid, ppid, ...rest]): Row => [pid, ppid === 1000 ? 1 : ppid, ...rest],
  );

  it('outlives the session that started it, with all that hangs below it', () => {
    const { verdict, at } = world(FIRST_ENDED, { lineage: remembered(world(TWO)) });
    expect([1100, 1101, 1200, 2200, 2201].map(verdict)).toEqual([
      'protected',
      'protected',
      'live',
      'live',
      'live',
    ]);
    expect(at(1100)).toMatchObject({ protection: 'hard' });
    expect(at(1100).why.join()).toContain('codex app-server daemon stop');
  });

  it('runs one server for each of its sessions: none is a duplicate', () => {
    const { snapshot } = world(TWO);
    expect(snapshot.findings.filter(f => f.id === 'duplicate-server' && f.severity === 'warn')).toEqual([]);
  });

  it('is no lineage: what it leaves behind is judged without it', () => {
    const lineage = remembered(world(TWO));
    expect(lineage.entryOf('2201:220100')).toBeUndefined();
    const rows: Row[] = [
      [2000, LOGIN, 'codex'],
      [2201, 1, 'node helper.js'],
    ];
    expect(world(rows, { lineage }).verdict(2201)).toBe('unknown');
  });
});
