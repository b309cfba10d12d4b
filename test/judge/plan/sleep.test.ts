import { describe, expect, it } from 'vitest';
import { noLongerSlept, planSleep } from '../../../src/judge/plan/sleep.ts';
import type { ProcessDetails } from '../../../src/model/process.ts';
import type { AgentSession, JudgedProcess, Snapshot } from '../../../src/model/snapshot.ts';
import { claude, ID, IDLE, MIB, READ, server } from './idle-session.ts';
import { HOUSE, id, invent, machine, noLineage, pids, snapshotOf } from './machine.ts';

const plan = (processes: readonly JudgedProcess[], minimumIdleSeconds = 0, part: Partial<Snapshot> = {}) =>
  planSleep({
    snapshot: snapshotOf([...HOUSE, ...processes], part),
    lineageMembers: noLineage,
    by: 'sleep',
    targets: [id(1000)],
    minimumIdleSeconds,
  });
const why = (...processes: readonly JudgedProcess[]): string | undefined => {
  const { steps, refused, sleep } = plan(processes);
  expect(steps.length).toBe(sleep?.sessions.length);
  if (refused.length > 0) expect(steps).toEqual([]);
  return refused[0]?.why;
};

describe('a session that is put to sleep', () => {
  it('is ended by TERM alone, and what is below it is no step', () => {
    const { steps, refused, bytes, how } = plan([claude(), server()]);
    expect(refused).toEqual([]);
    expect(steps).toMatchObject([{ pid: 1000, signal: 'SIGTERM' }]);
    expect(how).toBe('sleep');
    expect(bytes).toBe(380 * MIB);
  });

  it('has its way back in the plan: command, directory, pane, name and memory', () => {
    const tmux = { socket: '/tmp/tmux-1000/default', session: 'work', pane: '%3' };
    const servers = [{ socket: tmux.socket, pid: 77, reachable: true, panes: [] }];
    const { sleep, otherSteps } = plan([claude({ tmux }), server()], 0, { tmux: servers });
    expect(sleep?.sessions[0]?.way).toMatchObject({
      agent: 'claude',
      id: ID,
      project: 'proofs',
      name: 'fix the lemma',
      cwd: '/home/me/proofs',
      tmux: { ...tmux, server: 77 },
      bytes: 380 * MIB,
      resume: `claude --resume ${ID} --dangerously-skip-permissions`,
      registry: '/home/me/.claude',
    });
    expect(otherSteps).toEqual([
      { act: 'sleep', target: 'claude (1000)', why: expect.stringContaining(`claude --resume ${ID}`) },
    ]);
  });

  it('comes back where its sessions are kept', () => {
    const env = { HOME: '/home/me', CLAUDE_CONFIG_DIR: '/home/me/.claude two' };
    const [session] = plan([claude({ facts: { env } })]).sleep?.sessions ?? [];
    expect(session?.way.resume).toBe(
      `CLAUDE_CONFIG_DIR='/home/me/.claude two' claude --resume ${ID} --dangerously-skip-permissions`,
    );
    expect(session?.way.registry).toBe('/home/me/.claude two');
  });

  it('may be started by a shell, a tmux pane or a terminal, through wrappers', () => {
    const above = [
      invent(998, 1, { kind: 'tmux', verdict: 'protected', seen: { role: 'tmux-server' } }),
      invent(998, 1, { verdict: 'unknown', seen: { anchor: 'terminal' } }),
      invent(998, 1, { verdict: 'unknown', kind: 'shell' }),
    ];
    const wrapper = invent(999, 998, { kind: 'wrapper', verdict: 'live' });
    for (const top of above)
      expect(why(top, wrapper, { ...claude(), facts: { ...claude().facts, ppid: 999 } })).toBeUndefined();
  });

  it('does not take the daemon along that all sessions of its family share', () => {
    const daemon = invent(1002, 1000, {
      kind: 'agent',
      agent: 'codex',
      isSession: false,
      protection: 'hard',
      seen: { role: 'codex-daemon' },
    });
    const below = invent(1003, 1002, { verdict: 'live', facts: { rss: 50 * MIB } });
    const { refused, bytes, sleep } = plan([claude(), daemon, below]);
    expect(refused).toEqual([]);
    expect(bytes).toBe(300 * MIB);
    expect(pids(sleep?.sessions[0]?.members ?? [])).toEqual([1000]);
  });

  it('without targets it is every session that has been idle for so long', () => {
    const other = { ...IDLE, id: `${ID.slice(0, -1)}7`, seconds: 60 };
    const all = planSleep({
      snapshot: machine(claude(), claude({ session: other, facts: { pid: 1100, start: 's1100' } })),
      lineageMembers: noLineage,
      by: 'sleep',
      minimumIdleSeconds: 3600,
    });
    expect(pids(all.steps)).toEqual([1000]);
    expect(all.refused).toMatchObject([{ pid: 1100, why: expect.stringContaining('idle for 1m only') }]);
  });
});

const session = (part: Partial<AgentSession>): JudgedProcess => claude({ session: { ...IDLE, ...part } });
const without = (name: keyof AgentSession): JudgedProcess => {
  const { [name]: _, ...rest } = IDLE;
  return claude({ session: rest as AgentSession });
};
const agentDetails = (part: Partial<ProcessDetails>): JudgedProcess =>
  claude({ facts: { details: { ...READ, ...part } } });
const serverDetails = (part: Partial<ProcessDetails>): JudgedProcess =>
  server({ facts: { details: { ...READ, ...part } } });

const call = {
  id: 'c',
  tool: 'Bash',
  server: null,
  startedAt: 0,
  subagent: false,
  seconds: 5,
  process: null,
  join: 'itself',
} as const;

describe('a session stays awake', () => {
  it.each<[string, RegExp, ...JudgedProcess[]]>([
    ['while it works', /it works/, session({ doing: 'busy' })],
    ['with a background shell, wherever that is', /background shell/, session({ shell: true })],
    ['while it waits for its user', /waits for you/, session({ doing: 'waiting' })],
    ['while a call is pending', /call is pending/, session({ calls: [call] })],
    [
      'with a shell in the background',
      /in the background/,
      session({ unfinished: 'a shell runs in the background' }),
    ],
    [
      'with an unfinished subagent',
      /subagent/,
      session({ unfinished: 'a subagent of it may not have finished' }),
    ],
    [
      'with a shell below it',
      /sh \(1002\) runs below it/,
      claude(),
      invent(1002, 1000, { kind: 'shell', name: 'sh' }),
    ],
    ['with a program below it', /not a server/, claude(), invent(1002, 1000, { verdict: 'live' })],
    [
      'with another session below it',
      /another session/,
      claude(),
      invent(1002, 1000, { kind: 'agent', agent: 'claude' }),
    ],
    [
      'with a child that listens',
      /listens on port 3000/,
      claude(),
      serverDetails({ listening: { ports: [3000], clients: 0 } }),
    ],
    [
      'with a child that somebody uses',
      /in use/,
      claude(),
      serverDetails({ uses: [{ how: 'window', what: ':0' }] }),
    ],
    ['with a server at work', /it works/, claude(), server({ facts: { activity: { cpu: 40, bytes: 0 } } })],
    [
      'when somebody is connected to it',
      /connected/,
      agentDetails({ uses: [{ how: 'unix-client', what: '/s' }] }),
    ],
    [
      'when somebody is connected to its port',
      /connected/,
      agentDetails({ listening: { ports: [1], clients: 1 } }),
    ],
    ['when it prints', /prints one answer/, claude({ facts: { argv: ['claude', '-p', 'go'] } })],
    [
      'when its conversation is not kept',
      /not kept/,
      claude({ facts: { argv: ['claude', '--no-session-persistence'] } }),
    ],
    ['when its input is a pipe', /not a terminal/, agentDetails({ stdin: 'pipe' })],
    ['when its directory is gone', /is gone/, agentDetails({ cwd: '/home/me/x (deleted)' })],
    [
      'when an editor hosts it',
      /hosted/,
      claude({ protection: 'soft', verdict: 'protected', protectedBecause: 'hosted' }),
    ],
    [
      'when it is a background session',
      /stop it/,
      claude({ protection: 'hard', protectedBecause: 'claude stop it' }),
    ],
    ['when it serves several', /serves other/, claude({ seen: { role: 'session-host' } })],
    [
      'when a program started it',
      /orchestrate \(999\) started it/,
      invent(999, 800, { name: 'orchestrate', verdict: 'unknown' }),
      { ...claude(), facts: { ...claude().facts, ppid: 999 } },
    ],
    ['when nobody started it', /PID 1|started it/, { ...claude(), facts: { ...claude().facts, ppid: 1 } }],
    [
      'when another process has its session',
      /same session/,
      claude(),
      invent(1100, 800, { kind: 'agent', agent: 'claude', session: IDLE }),
    ],
    ['of a family that has no way back', /not known; x ends it/, claude({ agent: 'aider' })],
    [
      'of OpenCode, which names its open session as it ends',
      /OpenCode .* x ends it/,
      claude({ agent: 'opencode' }),
    ],
    ['of Gemini, which may be at work', /Gemini .* x ends it/, claude({ agent: 'gemini' })],
    ['of another user', /another user/, claude({ facts: { uid: 1 } })],
    ['that is no session', /not the session/, claude({ isSession: false })],
  ])('%s', (_, reason, ...processes) => {
    expect(why(...processes)).toMatch(reason);
  });

  it.each<[string, ...JudgedProcess[]]>([
    ['what it does', session({ doing: null })],
    ['its session', claude({ session: null })],
    ['its log', without('calls')],
    ['whether it is at its prompt', without('unfinished')],
    ['the id of its session', session({ id: null })],
    ['an id that could be typed', session({ id: 'x; reboot' })],
    ['since when it is idle', session({ seconds: null })],
    ['its command line', claude({ facts: { argv: null } })],
    ['its files', claude({ facts: { details: null } })],
    ['its input', agentDetails({ stdin: 'unknown' })],
    ['its directory', agentDetails({ cwd: null })],
    ['its ports', agentDetails({ listening: null })],
    ['its sockets', agentDetails({ uses: null })],
    ['its user', claude({ facts: { uid: null } })],
    ['its verdict', claude({ verdict: 'unknown' })],
    ['the ports of a server', claude(), serverDetails({ listening: null })],
    ['the sockets of a server', claude(), serverDetails({ uses: null })],
    ['the work of a server', claude(), server({ facts: { activity: null } })],
    ['the files of a server', claude(), server({ facts: { details: null } })],
    ['the user of a server', claude(), server({ facts: { uid: null } })],
  ])('while this is not known: %s', (_, ...processes) => {
    expect(why(...processes)).toBeTypeOf('string');
  });

  it('until it has been idle for as long as was asked for, what its pane shows included', () => {
    expect(plan([claude()], 7201).refused[0]?.why).toContain('idle for 2h');
    expect(plan([claude()], 7199).refused).toEqual([]);
    const tmux = { socket: '/s', session: 'work', pane: '%3' };
    const pane = {
      ...tmux,
      sessionId: '$0',
      windowId: '@0',
      window: 0,
      pid: 800,
      tty: 'pts/1',
      dead: false,
      title: '',
      attached: true,
      activity: 10_000 - 30,
    };
    const part = { takenAt: 10_000_000, tmux: [{ socket: '/s', pid: 7, reachable: true, panes: [pane] }] };
    expect(plan([claude({ tmux })], 3600, part).refused[0]?.why).toContain('idle for 30s only');
    // Beside another pane, nobody can tell which of them showed something.
    const panes = [pane, { ...pane, pane: '%4', pid: 801 }];
    const shared = { ...part, tmux: [{ socket: '/s', pid: 7, reachable: true, panes }] };
    expect(plan([claude({ tmux })], 3600, shared).refused).toEqual([]);
  });

  it('when the table is a recorded one', () => {
    expect(plan([claude()], 0, { self: null }).refused[0]?.why).toContain('recorded table');
  });
});

describe('right before the signal', () => {
  const planned = plan([claude(), server()], 3600);
  const later = (...processes: readonly JudgedProcess[]) => [
    ...noLongerSlept(planned, machine(...processes)).values(),
  ];

  it('nothing has changed, and it goes on', () => {
    expect(later(claude(), server())).toEqual([]);
  });

  it.each<[string, RegExp, ...JudgedProcess[]]>([
    ['has begun to work', /it works/, session({ doing: 'busy', seconds: 0 }), server()],
    ['has another session, by /clear', /another one now/, session({ id: `${ID.slice(0, -1)}9` }), server()],
    ['has a shell', /not a server/, claude(), invent(1002, 1000, { kind: 'shell' })],
    ['was just used', /idle for 1s only/, session({ seconds: 1 }), server()],
  ])('one that %s is left alone', (_, reason, ...processes) => {
    expect(later(...processes)).toEqual([expect.stringMatching(reason)]);
  });
});
