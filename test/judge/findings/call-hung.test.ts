import { describe, expect, it } from 'vitest';
import { DEFAULT_CONFIG } from '../../../src/model/config-defaults.ts';
import { type Finding, sameFinding } from '../../../src/model/finding.ts';
import {
  AGENT,
  BUSY,
  type HungCall,
  LEAN,
  logged,
  NOW,
  SERVER,
  withHungCall,
} from '../../support/hung-call.ts';
import { type Row, ZOMBIE } from '../../support/world.ts';

const found = (call: HungCall = {}): readonly Finding[] =>
  withHungCall(call).findings.filter(({ id }) => id === 'call-hung');
const severity = (call: HungCall): string => found(call)[0]?.severity ?? 'none';
const hung = (call: HungCall) =>
  withHungCall(call).processes.find(p => p.facts.pid === AGENT)?.session?.calls?.[0]?.hung;

const ZOMBIES: Row[] = [1, 2, 3].map(n => [SERVER + n, SERVER, '[lake.orig]', ZOMBIE]);

describe('call-hung', () => {
  it('says who waits for what, since when, and why it will not come', () => {
    const [finding] = found({ rows: [LEAN, ...ZOMBIES] });
    expect(finding).toMatchObject({
      severity: 'critical',
      title:
        'claude proofs has waited 13m for lean_diagnostic_messages; lean-lsp-mcp (1048) is idle and has 3 zombie children',
      processes: [{ pid: SERVER }, { pid: AGENT }],
      action: 'free-call',
    });
    expect(hung({})).toBe(true);
  });

  it.each([
    ['lean_diagnostic_messages', 119, 'none'],
    ['lean_diagnostic_messages', 120, 'warn'],
    ['lean_diagnostic_messages', 300, 'critical'],
    ['lean_goal', 59, 'none'],
    ['lean_goal', 60, 'warn'],
    ['lean_goal', 299, 'warn'],
    ['lean_build', 599, 'none'],
    ['lean_build', 600, 'warn'],
    ['lean_build', 1499, 'warn'],
    ['lean_build', 1500, 'critical'],
    ['read_graph', 119, 'none'],
    ['read_graph', 120, 'warn'],
  ])('%s after %i s: %s', (tool, seconds, expected) => {
    expect(severity({ tool, seconds })).toBe(expected);
  });

  it('limits are the config’s, for all tools and for single ones', () => {
    const limits = { warnSeconds: 10, criticalSeconds: 20, tools: { lean_goal: 40 } };
    const config = { ...DEFAULT_CONFIG, thresholds: { ...DEFAULT_CONFIG.thresholds, 'call-hung': limits } };
    expect(severity({ config, seconds: 10 })).toBe('warn');
    expect(severity({ config, seconds: 20 })).toBe('critical');
    expect(severity({ config, tool: 'lean_goal', seconds: 39 })).toBe('none');
  });

  it('a server at work is slow, however long it takes and whatever it has not reaped', () => {
    expect(found({ past: BUSY, rows: [LEAN, ...ZOMBIES] })).toMatchObject([
      { severity: 'info', action: null, why: expect.stringContaining('lean-lsp-mcp (1048) is at work') },
    ]);
    expect(hung({ past: BUSY })).toBe(false);
  });

  it('a child that works is work of its server', () => {
    const child: Row = [SERVER + 1, SERVER, 'lake build'];
    const past = { idleSamples: ({ key }: { key: string }) => (key.startsWith(`${SERVER + 1}:`) ? 0 : 9) };
    expect(severity({ rows: [LEAN, child], past })).toBe('info');
  });

  it('a server that moves data is at work, also without CPU', () => {
    const moving = (bytes: number): Row => [SERVER, AGENT, 'lean-lsp-mcp', { activity: { cpu: 0, bytes } }];
    expect(severity({ rows: [moving(100_000)] })).toBe('info');
    expect(severity({ rows: [moving(200)] })).toBe('critical');
  });

  it('says nothing before three samples have shown that nothing happens', () => {
    for (const samples of [null, 1, 2])
      expect(severity({ past: { idleSamples: () => samples } })).toBe('none');
    expect(severity({ past: { idleSamples: () => 3 } })).toBe('critical');
  });

  it('what can be seen at once needs no samples: unreaped children, a server that is stopped or gone', () => {
    const past = { idleSamples: () => null };
    expect(found({ past, rows: [LEAN, ...ZOMBIES] })[0]?.title).toContain('(1048) has 3 zombie children');
    const stopped: Row = [SERVER, AGENT, 'lean-lsp-mcp', { state: 'T' }];
    expect(found({ past, rows: [stopped] })[0]?.title).toContain('(1048) is stopped');
  });

  it('never while the session waits for its user, or is at its prompt', () => {
    for (const status of ['waiting', 'blocked', 'idle', 'shell']) expect(severity({ status })).toBe('none');
  });

  it('where nothing says that it does not wait for its user, it warns and is never critical', () => {
    const [codex] = found({ agent: 'codex', server: 'lean_lsp', seconds: 7200 });
    expect(codex).toMatchObject({
      severity: 'warn',
      why: expect.stringContaining('waits for your approval'),
    });
    expect(severity({ status: 'pondering', seconds: 7200 })).toBe('warn');
  });

  it('offers nothing when it cannot tell which of several servers is meant', () => {
    const other: Row = [SERVER + 9, AGENT, 'mcp-server-memory'];
    expect(found({ server: 'search', rows: [LEAN, other] })).toMatchObject([
      {
        severity: 'info',
        action: null,
        processes: [{ pid: AGENT }],
        why: expect.stringContaining('which of 2'),
      },
    ]);
  });

  it('a server that is only the likeliest one is a warning, and says so', () => {
    expect(found({ server: 'search' })).toMatchObject([
      { severity: 'warn', why: expect.stringContaining('no other process can be its server') },
    ]);
  });

  it('tools of the agent itself take as long as they take', () => {
    for (const tool of ['Read', 'Agent', 'WebFetch', 'AskUserQuestion'])
      expect(severity({ tool, server: null, seconds: 90_000 })).toBe('none');
  });

  it('calls that wait for one server are one finding, for two servers two that are not mistaken for each other', () => {
    const again = logged({ id: 'toolu_2', tool: 'lean_goal', startedAt: NOW - 400_000 });
    expect(found({ more: [again] })).toMatchObject([
      { title: expect.stringContaining('13m for lean_diagnostic_messages and 1 more') },
    ]);
  });

  it('two servers of one agent', () => {
    const stuck = (pid: number): Finding => ({
      ...found()[0]!,
      processes: [
        { pid, start: '1' },
        { pid: AGENT, start: '1' },
      ],
    });
    expect(sameFinding(stuck(1), [stuck(2), stuck(1)])?.processes[0]?.pid).toBe(1);
    expect(sameFinding(stuck(1), [stuck(2)])).toBeUndefined();
  });
});

describe('what it says and offers', () => {
  it('a server that is gone: the call is hung, and only its pane can free it', () => {
    const servers = [
      { name: 'lean-lsp', command: 'uvx', args: ['lean-lsp-mcp'], source: '/p/.mcp.json', rank: 'project' },
    ] as const;
    expect(found({ rows: [], servers })).toMatchObject([
      {
        severity: 'critical',
        why: expect.stringContaining('its server lean-lsp is not running'),
        processes: [{ pid: AGENT }],
        remedy: 'interrupt the call in its pane',
        action: 'free-call',
      },
    ]);
  });

  it('names the server of a hung call and how it is freed; a slow one is waited for', () => {
    expect(found()[0]).toMatchObject({
      why: expect.stringContaining('no result from the server lean-lsp;'),
      remedy: expect.stringMatching(/^end its server, /),
    });
    expect(found({ past: BUSY })[0]?.remedy).toBe('wait, or interrupt the agent');
  });

  it('names the oldest of several calls and takes the worst severity', () => {
    const older = logged({ id: 'toolu_2', tool: 'lean_goal', startedAt: NOW - 3_600_000 });
    const [finding] = found({ seconds: 130, more: [older] });
    expect(finding).toMatchObject({
      severity: 'critical',
      title: expect.stringContaining('1h00m for lean_goal and 1 more'),
    });
  });

  it('a call that is not late yet is left as it is beside one that is', () => {
    const young = logged({ id: 'toolu_2', startedAt: NOW - 5000 });
    const calls = withHungCall({ more: [young] }).processes.find(p => p.facts.pid === AGENT)?.session?.calls;
    expect(calls?.map(call => call.late !== undefined)).toEqual([true, false]);
    expect(severity({ more: [logged({ id: 'toolu_3', startedAt: null })], seconds: 1 })).toBe('none');
  });
});

describe('what is easily mistaken', () => {
  it('a tool of a server that is called like the shell is a server’s', () => {
    expect(severity({ tool: 'Bash', seconds: 1500 })).toBe('critical');
  });

  it('64 KiB between two samples are not work yet', () => {
    const moving: Row = [SERVER, AGENT, 'lean-lsp-mcp', { activity: { cpu: 0, bytes: 64 * 1024 } }];
    expect(severity({ rows: [moving] })).toBe('critical');
  });

  it('nothing is asked of a zombie: what is unknown of it says nothing of its server', () => {
    const past = { idleSamples: ({ key }: { key: string }) => (key.startsWith(`${SERVER}:`) ? 9 : null) };
    expect(found({ past, rows: [LEAN, ...ZOMBIES] })[0]?.title).toContain(
      'is idle and has 3 zombie children',
    );
  });

  it('a server of which nothing is seen is not counted', () => {
    expect(found({ rows: [] })[0]?.why).toContain('no process of its server is seen');
  });

  it('calls of two servers are two findings', () => {
    const other: Row = [SERVER + 9, AGENT, 'mcp-server-memory'];
    const more = [logged({ id: 'toolu_2', tool: 'read_graph', server: 'memory' })];
    const findings = found({ rows: [LEAN, other], more });
    expect(findings.map(({ processes }) => processes[0]?.pid).sort()).toEqual([SERVER, SERVER + 9]);
  });

  it('of calls that began together the first is named', () => {
    const again = logged({ id: 'toolu_2', tool: 'lean_goal' });
    expect(found({ more: [again] })[0]?.title).toContain('for lean_diagnostic_messages and 1 more');
  });
});

describe('a command', () => {
  const shell = (details: { outputAt?: number } = { outputAt: NOW - 120_000 }): Row => [
    SERVER,
    AGENT,
    '/bin/bash -c source /home/me/.claude/shell-snapshots/snapshot-bash-1.sh && eval sleep',
    { born: NOW / 1000 - 780, details },
  ];
  const bash = { tool: 'Bash', server: null } as const;

  it('hangs when its own time limit has passed, its tree is idle and its output is still', () => {
    expect(found({ ...bash, rows: [shell()] })).toMatchObject([{ severity: 'warn', action: 'free-call' }]);
    // A command may wait for something that nobody here sees: nothing ends it by itself.
    expect(severity({ ...bash, rows: [shell()], seconds: 90_000 })).toBe('warn');
  });

  it('says that it writes nothing, names no server, and that ending it lets the agent go on', () => {
    const [finding] = found({ ...bash, rows: [shell()] });
    expect(finding?.why).toMatch(/has no result; .* is idle and writes nothing$/);
    expect(finding?.remedy).toMatch(/^end the command, /);
  });

  it('a minute without a word is still', () => {
    expect(severity({ ...bash, rows: [shell({ outputAt: NOW - 60_000 })] })).toBe('warn');
  });

  it('other names of the shell have the limit of Bash', () => {
    const codex = { agent: 'codex', tool: 'exec_command', server: null } as const;
    const rows: Row[] = [
      [
        SERVER,
        AGENT,
        '/bin/bash -lc sleep',
        { born: NOW / 1000 - 780, details: { outputAt: NOW - 120_000 } },
      ],
    ];
    expect(severity({ ...codex, rows })).toBe('warn');
    expect(severity({ ...codex, rows, seconds: 599 })).toBe('none');
  });

  it.each<[string, HungCall]>([
    [
      'with a child that writes',
      {
        ...bash,
        rows: [shell(), [SERVER + 1, SERVER, 'sleep 9', { details: { outputAt: NOW - 5000 } }]],
      },
    ],
    ['before its limit', { ...bash, rows: [shell()], seconds: 599 }],
    ['at work', { ...bash, rows: [shell()], past: BUSY }],
    ['not watched yet', { ...bash, rows: [shell()], past: { idleSamples: () => null } }],
    ['writing', { ...bash, rows: [shell({ outputAt: NOW - 5000 })] }],
    ['of unknown output', { ...bash, rows: [shell({})] }],
    ['of no known process', { ...bash, rows: [] }],
    ['of unread output, with a child', { ...bash, rows: [shell({}), [SERVER + 1, SERVER, 'sleep 9']] }],
  ])('%s it does not', (_, call) => {
    expect(severity(call)).toBe('none');
  });
});
