import { describe, expect, it } from 'vitest';
import { planSweep } from '../../../src/judge/plan/sweep.ts';
import type { ClaudeSession, TmuxPane } from '../../../src/model/observation.ts';
import type { JudgedProcess } from '../../../src/model/snapshot.ts';
import { agent, agentFiles, ago, file, member, pane, registry, server, TASK } from '../heartbeats/scene.ts';
import { invent } from './machine.ts';
import { planFor, requestFor } from './sweep-scene.ts';

const STILL = 700;
const inSession = { socket: '/tmp/tmux-1000/default', session: 'agent_a', pane: '%1' };

const shell = invent(1100, 40, {
  kind: 'shell',
  verdict: 'live',
  tmux: inSession,
  facts: { born: 50, argv: ['sh', '-c', 'claude | tee log'], comm: 'sh' },
});
const claude = agent(1101, { tmux: inSession, facts: { ppid: 1100, born: 60 } });
const tee = invent(1102, 1100, { kind: 'wrapper', verdict: 'live', tmux: inSession, facts: { comm: 'tee' } });
const mcp = invent(1103, 1101, { kind: 'mcp', verdict: 'live', tmux: inSession });
const own = { pid: 1100, activity: ago(STILL) / 1000 };

const session = (status: string | null, part: Partial<ClaudeSession> = {}): ClaudeSession => ({
  pid: 1101,
  procStart: 's1101',
  sessionId: 'id-a',
  cwd: '/p',
  kind: null,
  status,
  statusUpdatedAt: null,
  waitingFor: null,
  name: null,
  jobId: null,
  socket: null,
  spare: false,
  adoptedOutputs: [],
  path: '/h/.claude/sessions/1101.json',
  ...part,
});

interface Change {
  readonly processes?: readonly JudgedProcess[];
  readonly panes?: readonly TmuxPane[];
  readonly sessions?: readonly ClaudeSession[];
  readonly readings?: ReturnType<typeof agentFiles>;
}

const plan = ({ processes, panes, sessions = [session('idle')], readings }: Change = {}) =>
  planFor({
    readings: readings ?? agentFiles('a', STILL, true),
    processes: processes ?? [shell, claude, tee, mcp],
    tmux: [server(panes ?? [pane('agent_a', own)])],
    sessions,
  });

const reasons = (change: Change): string[] => {
  const { sessions, ending, files, refused } = plan(change);
  expect([sessions, ending.steps, files]).toEqual([[], [], []]);
  return refused.map(({ why }) => why);
};

const with_ = (p: JudgedProcess, facts: Partial<JudgedProcess['facts']>): JudgedProcess => ({
  ...p,
  facts: { ...p.facts, ...facts },
});

describe('the session of a finished agent that still runs', () => {
  it('is ended, with everything in it, when nothing about it has moved for ten minutes', () => {
    const { sessions, ending, files, refused } = plan();
    expect(refused).toEqual([]);
    expect(sessions.map(s => s.session)).toEqual(['agent_a']);
    for (const { why } of [...sessions, ...files]) expect(why).toContain('success');
    expect([ending.refused, ending.files]).toEqual([[], []]);
    expect(ending.steps.map(step => step.pid).sort()).toEqual([1100, 1101, 1102, 1103]);
    expect(sessions[0]?.processes).toHaveLength(4);
    expect(files).toHaveLength(5);
  });

  it.each<[string, Change, string]>([
    ['is attached', { panes: [pane('agent_a', { ...own, attached: true })] }, 'attached'],
    [
      'showed something 5 minutes ago',
      { panes: [pane('agent_a', { ...own, activity: ago(300) / 1000 })] },
      'pane showed something',
    ],
    ['may have shown something', { panes: [pane('agent_a', { ...own, activity: null })] }, 'pane showed'],
    ['used CPU', { processes: [shell, with_(claude, { cpu: 0.3 }), tee, mcp] }, 'claude (1101) used CPU'],
    ['has a child that used CPU', { processes: [shell, claude, tee, with_(mcp, { cpu: 2 })] }, '1103'],
    ['may use CPU', { processes: [shell, with_(claude, { cpu: null }), tee, mcp] }, 'not known'],
    ['is busy', { sessions: [session('busy')] }, 'session file says busy'],
    [
      'is busy in a sandbox',
      {
        processes: [
          shell,
          with_(claude, {
            details: {
              cwd: '/p',
              swap: 0,
              innerPid: 2,
              cgroup: null,
              stdin: 'tty',
              lostTerminal: false,
              ignoresHangup: false,
              io: 0,
              listening: { ports: [], clients: 0 },
              uses: [],
            },
          }),
          tee,
          mcp,
        ],
        sessions: [session('busy', { pid: 2 })],
      },
      'session file says busy',
    ],
    ['runs a command', { sessions: [session('shell')] }, 'session file says shell'],
    ['does what we do not know', { sessions: [session('pondering')] }, 'session file says pondering'],
    [
      'wrote to its transcript',
      {
        readings: [
          ...agentFiles('a', STILL, true),
          file('/h/.claude/projects/-p/id-a.jsonl', 'transcript', 60, { pid: 1101, sessionId: 'id-a' }),
        ],
      },
      'transcript changed',
    ],
    ['wrote to its stream log', { readings: agentFiles('a', 300, true) }, 'stream log changed'],
    [
      'says only in its progress file that it is done',
      {
        readings: agentFiles('a', STILL, false).map(r =>
          r.format === 'progress-log' ? { ...r, terminal: true, status: 'completed' } : r,
        ),
      },
      'neither its registry nor its stream log',
    ],
    [
      'works for another Claude session than the log',
      {
        readings: agentFiles('a', STILL, true).map(r =>
          r.format === 'stream-log' ? { ...r, sessionId: 'id-b' } : r,
        ),
      },
      'another Claude session',
    ],
  ])('is left alone when it %s', (_, change, why) => {
    expect(reasons(change)).toEqual([expect.stringContaining(why)]);
  });

  it('is ended whatever has ended in it, whatever stands in its pipeline, and with the agents of its agent', () => {
    const ended = (...more: JudgedProcess[]) =>
      plan({ processes: [shell, claude, tee, mcp, ...more] }).sessions.length;
    expect(ended(invent(1104, 1100, { verdict: 'unknown', facts: { state: 'Z' } }))).toBe(1);
    expect(ended(invent(1104, 1100, { verdict: 'live', facts: { comm: 'cat' } }))).toBe(1);
    expect(ended(agent(1104, { tmux: inSession, facts: { ppid: 1101 } }))).toBe(1);
    const typed = with_(shell, { argv: ['-bash'] });
    expect(plan({ processes: [typed, claude, tee, mcp] }).sessions).toHaveLength(1);
  });

  it('is ended with the bytes of all that is in it, after ten minutes to the second', () => {
    const panes = [pane('agent_a', { ...own, activity: ago(600) / 1000 })];
    const { sessions, ending } = plan({ panes, readings: agentFiles('a', 600, true) });
    expect(sessions).toHaveLength(1);
    expect(ending.bytes).toBe(4 * 1000 + 1100 + 1101 + 1102 + 1103);
  });

  it('is ended on the word of its registry where it has no stream log, and whatever log comes first', () => {
    const [stream, ...others] = agentFiles('a', STILL, true);
    const readings = [registry(member('a', 'completed')), ...others];
    expect(plan({ readings }).sessions).toHaveLength(1);
    expect(plan({ readings: [...others, stream!] }).sessions).toHaveLength(1);
  });

  it('is left alone when one of two panes moved, or when one will have moved by its clock', () => {
    const second = invent(1200, 40, {
      kind: 'shell',
      verdict: 'live',
      tmux: inSession,
      facts: { argv: ['bash', '-lc', 'sleep 9'], comm: 'bash' },
    });
    const at = (seconds: number) => ({
      processes: [shell, claude, tee, mcp, second],
      panes: [
        pane('agent_a', own),
        pane('agent_a', { ...own, pane: '%2', pid: 1200, activity: ago(seconds) / 1000 }),
      ],
    });
    expect(plan(at(STILL)).sessions).toHaveLength(1);
    expect(reasons(at(300))).toEqual([expect.stringContaining('its pane showed something 5m')]);
    expect(reasons(at(-50))).toEqual([expect.stringContaining('its pane showed something 0s ago')]);
  });

  it('is held by the records of its own agents only, each of them', () => {
    const child = agent(1104, { tmux: inSession, facts: { ppid: 1101 } });
    const inside = [shell, claude, tee, mcp, child];
    const ofChild = { pid: 1104, procStart: 's1104', sessionId: 'id-child' };
    const withLog = agentFiles('a', STILL, true).map(r =>
      r.format === 'stream-log' ? { ...r, sessionId: 'id-a' } : r,
    );
    expect(plan({ sessions: [session('busy', { pid: 999, procStart: null })] }).sessions).toHaveLength(1);
    expect(reasons({ sessions: [session('busy', { procStart: null })] })).toHaveLength(1);
    expect(reasons({ processes: inside, sessions: [session('busy')] })).toHaveLength(1);
    expect(
      reasons({ processes: inside, sessions: [session('idle'), session('busy', ofChild)] }),
    ).toHaveLength(1);
    const both = [session('idle'), session('idle', ofChild)];
    expect(plan({ processes: inside, sessions: both, readings: withLog }).sessions).toHaveLength(1);
    expect(plan({ sessions: [], readings: withLog }).sessions).toHaveLength(1);
  });

  it('is not held by the transcript of nobody in it', () => {
    const stranger = file('/h/.claude/projects/-x/id-z.jsonl', 'transcript', 60, { sessionId: 'id-z' });
    expect(plan({ readings: [...agentFiles('a', STILL, true), stranger] }).sessions).toHaveLength(1);
  });

  it('is ended on the word of the registry alone, and whatever a record of another process says', () => {
    const readings = [registry(member('a', 'completed')), ...agentFiles('a', STILL, false)];
    expect(plan({ readings }).sessions).toHaveLength(1);
    expect(plan({ sessions: [session('busy', { procStart: 's7' })] }).sessions).toHaveLength(1);
  });
});

describe('a session in which the finished agent left nothing but a prompt', () => {
  const prompt = with_(shell, { argv: ['-bash'], comm: 'bash', cpu: 0 });
  const left = (change: Change = {}): Change => ({ processes: [prompt], sessions: [], ...change });

  it('is ended as one with the agent in it', () => {
    const { sessions, ending, files, refused } = plan(left());
    expect([refused, sessions.map(s => s.session)]).toEqual([[], ['agent_a']]);
    expect(ending.steps.map(step => step.pid)).toEqual([1100]);
    expect(files).toHaveLength(5);
  });

  it.each<[string, Change, string]>([
    ['is attached', { panes: [pane('agent_a', { ...own, attached: true })] }, 'attached'],
    [
      'showed something 5 minutes ago',
      { panes: [pane('agent_a', { ...own, activity: ago(300) / 1000 })] },
      'pane showed something',
    ],
    ['used CPU', { processes: [with_(prompt, { cpu: 0.1 })] }, 'used CPU'],
    ['may use CPU', { processes: [with_(prompt, { cpu: null })] }, 'not known'],
    [
      'runs something',
      { processes: [prompt, invent(1104, 1100, { verdict: 'unknown', tmux: inSession, name: 'make' })] },
      'runs in its session',
    ],
    [
      'runs a second shell in the first',
      {
        processes: [
          prompt,
          invent(1104, 1100, {
            kind: 'shell',
            verdict: 'unknown',
            tmux: inSession,
            name: 'zsh',
            facts: { argv: ['zsh'], comm: 'zsh' },
          }),
        ],
      },
      'runs in its session',
    ],
    [
      'has an agent that nobody calls finished',
      {
        readings: agentFiles('a', STILL, false).map(r =>
          r.format === 'progress-log' ? { ...r, terminal: true, status: 'completed' } : r,
        ),
      },
      'neither its registry nor its stream log',
    ],
  ])('is left alone when it %s', (_, change, why) => {
    expect(reasons(left(change))).toEqual([expect.stringContaining(why)]);
  });

  it('is ended after as many seconds as are asked for', () => {
    const at = (quiet: number, stillSeconds: number) =>
      planSweep({
        ...requestFor({
          readings: agentFiles('a', quiet, true),
          processes: [prompt],
          tmux: [server([pane('agent_a', { pid: 1100, activity: ago(quiet) / 1000 })])],
          sessions: [],
        }),
        stillSeconds,
      }).sessions.length;
    expect([at(30, 31), at(30, 30), at(700, 701), at(700, 700)]).toEqual([0, 1, 0, 1]);
  });
});

describe('a session in which somebody else is at work', () => {
  const second = pane('agent_a', { ...own, pane: '%2', pid: 1200 });
  const other = (kind: JudgedProcess['kind'], argv: string[], name = argv[0] ?? ''): JudgedProcess =>
    invent(1200, 40, {
      kind,
      verdict: 'unknown',
      tmux: inSession,
      name,
      facts: { argv, comm: name, cpu: 0 },
    });

  it.each<[string, JudgedProcess]>([
    ['a program', other('other', ['python', 'train.py'])],
    ['a shell that waits for somebody', other('shell', ['-bash'])],
    ['a shell with a configuration of its own', other('shell', ['bash', '--norc'])],
    ['a shell with flags that are no command', other('shell', ['zsh', '-cdf'])],
    ['a shell of which no words are known', with_(other('shell', ['zsh']), { argv: null })],
    ['a server', other('mcp', ['node', 'server.js'])],
  ])('is left alone for %s in another pane, and says which', (_, stranger) => {
    const panes = [pane('agent_a', own), second];
    expect(reasons({ panes, processes: [shell, claude, tee, mcp, stranger] })).toEqual([
      expect.stringContaining(`${stranger.name} (1200) runs in its session`),
    ]);
  });

  it('is left alone for a program beside the agent, and for a second agent', () => {
    const beside = invent(1104, 1100, { verdict: 'unknown', tmux: inSession, name: 'make' });
    expect(reasons({ processes: [shell, claude, tee, mcp, beside] })).toEqual([
      expect.stringContaining('make (1104) runs in its session'),
    ]);
    const another = agent(1105, { tmux: inSession, facts: { ppid: 1100, born: 61 } });
    expect(reasons({ processes: [shell, claude, another, tee] })).toEqual([
      expect.stringContaining('2 agents run in its session'),
    ]);
  });

  it('is left alone when a pane holds a process that nobody saw', () => {
    expect(reasons({ panes: [pane('agent_a', own), second] })).toEqual([
      expect.stringContaining('is not known'),
    ]);
  });

  it('is left alone when two servers have one of its name', () => {
    const panes = [pane('agent_a', own), pane('agent_a', { ...own, socket: '/tmp/tmux-1000/other' })];
    expect(reasons({ panes })).toEqual([expect.stringContaining('more than one session')]);
  });

  it('is left alone when another task claims it', () => {
    const elsewhere = TASK.replace('abcdef12', 'abcdef13');
    const readings = [
      ...agentFiles('a', STILL, true),
      file(`${elsewhere}/logs/a_stream.jsonl`, 'stream-log', 1, { agentId: 'a' }),
    ];
    expect(reasons({ readings })).toEqual([expect.stringContaining('abcdef13 claims the session')]);
  });
});

describe('a registry that names a session', () => {
  it.each(['main', 'agent_b', 'agent_', 'agent'])('has no say over %s', name => {
    const readings = [
      registry(member('a', 'completed', { tmuxSession: name })),
      ...agentFiles('a', STILL, true),
    ];
    const alone = [with_(shell, {}), tee].map(p => ({ ...p, tmux: { ...inSession, session: name } }));
    expect(reasons({ readings, processes: alone, panes: [pane(name, own)] })).toEqual([
      expect.stringContaining(`calls its session ${name}`),
    ]);
  });

  it('has none either when it, or a log, belongs to somebody else', () => {
    const readings = [registry(member('a', 'completed')), ...agentFiles('a', STILL, true)];
    for (const path of [`${TASK}/AGENT_REGISTRY.json`, `${TASK}/logs/a_stream.jsonl`]) {
      const refused = planFor({ readings }, { unsafe: new Map([[path, 'it belongs to another user']]) });
      expect(refused.files).toEqual([]);
      expect(refused.refused[0]?.why).toContain('belongs to another user');
    }
  });

  it('has none while a process works for its agent outside the session', () => {
    const outside = agent(1300, { tmux: { ...inSession, session: 'main' } });
    const readings = [registry(member('a', 'completed', { pid: 1300 })), ...agentFiles('a', STILL, true)];
    for (const p of [outside, { ...outside, tmux: null }])
      expect(reasons({ readings, processes: [shell, tee, p] })).toEqual([
        expect.stringContaining('claude (1300) still works for it outside its session'),
      ]);
  });
});
