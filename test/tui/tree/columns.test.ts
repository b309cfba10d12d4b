import { describe, expect, test } from 'vitest';
import type { Heartbeat } from '../../../src/model/heartbeat.ts';
import {
  type AgentSession,
  type JudgedProcess,
  sessionBrief,
  sessionDoing,
  sessionLastActive,
  sessionName,
} from '../../../src/model/snapshot.ts';
import { doing } from '../../../src/tui/tree/columns.ts';
import type { Row } from '../../../src/tui/tree/row-order.ts';
import { invent, PIPED } from '../../judge/plan/machine.ts';

const session = (change: Partial<AgentSession> = {}): AgentSession => ({
  id: 's',
  project: 'proofs',
  name: null,
  doing: null,
  waitingFor: null,
  seconds: null,
  ...change,
});

describe('which session it is and what it does', () => {
  test.each<[Partial<AgentSession>, string, string]>([
    [{ doing: 'busy', seconds: 4 }, 'busy', 'busy'],
    [{ doing: 'idle', seconds: 2400 }, 'idle 40m', 'idle 40m'],
    [
      { doing: 'waiting', waitingFor: 'permission prompt', seconds: 720 },
      'waits for you: permission prompt 12m',
      'waits 12m',
    ],
    [{ doing: 'waiting' }, 'waits for you', 'waits'],
    [{}, '', ''],
  ])('%o', (change, whole, brief) => {
    expect(sessionDoing(session(change))).toBe(whole);
    expect(sessionBrief(session(change))).toBe(brief);
  });

  test('a name of its own stands beside the project', () => {
    expect(sessionName(session())).toBe('proofs');
    expect(sessionName(session({ name: 'fix the lemma' }))).toBe('proofs “fix the lemma”');
    expect(sessionName(session({ project: null, name: 'x' }))).toBe('“x”');
  });

  test('for whoever is about to end it: when it was last active', () => {
    expect(sessionLastActive(session({ doing: 'idle', seconds: 40 }))).toBe('last active 40s ago');
    expect(sessionLastActive(session({ doing: 'busy' }))).toBe('busy now');
  });
});

describe('what a row says of its process', () => {
  const row = (process: JudgedProcess | null, change: Partial<Row> = {}): Row =>
    ({ process, group: null, beat: null, inherits: false, ...change }) as Row;
  const live = (part: Parameters<typeof invent>[2] = {}): JudgedProcess =>
    invent(20, 1, { verdict: 'live', why: [], ...part });
  const beat = (change: Partial<Heartbeat>): Heartbeat =>
    ({
      format: 'agent-progress',
      state: 'fine',
      task: null,
      phase: null,
      operation: null,
      ...change,
    }) as Heartbeat;

  test.each([
    ['kworker/0', '[kworker/0]', ''],
    ['zsh', '/usr/bin/zsh -l', '-l'],
    ['zsh', '-zsh -i', '-i'],
    ['lean-lsp-mcp', 'node /opt/lean-lsp-mcp --stdio', '--stdio'],
    ['npm exec x', 'npm exec x@latest  --port 3', '--port 3'],
    ['npm exec x', 'npm exec x@latest', ''],
    ['npm exec x', 'node /usr/bin/npm exec x', 'exec x'],
    ['tool', 'a b c tool d', 'a b c tool d'],
    ['tool', 'sh run-tool', 'sh run-tool'],
  ])('the arguments of %s in "%s"', (name, command, text) => {
    expect(doing(row(live({ name, command })))).toEqual({ text, tone: 'faint' });
  });

  test('the directory stands in for arguments, but not beside the name of a shell', () => {
    const facts = { details: PIPED };
    const bare = { name: 'x', command: 'x', facts };
    expect(doing(row(live(bare))).text).toBe('/p');
    expect(doing(row(live({ ...bare, command: 'x -v' }))).text).toBe('-v');
    expect(doing(row(live({ ...bare, kind: 'shell' }))).text).toBe('');
  });

  test('shows the directory of an agent and of lake, never the wrapper words of the Bash tool', () => {
    const facts = { details: PIPED };
    for (const kind of ['agent', 'lake'] as const) {
      expect(doing(row(live({ kind, facts })))).toEqual({ text: '/p', tone: 'faint' });
      expect(doing(row(live({ kind, name: 'x', command: 'x -v' }))).text).toBe('-v');
    }
    const seen = { role: 'bash-tool' } as const;
    expect(doing(row(live({ seen, facts })))).toEqual({ text: '/p', tone: 'faint' });
    expect(doing(row(live({ seen }))).text).toBe('');
  });

  test.each([
    ['leak', 'reason'],
    ['suspect', 'suspect'],
    ['protected', 'faint'],
  ] as const)('why it is %s, once below a parent of the same verdict', (verdict, tone) => {
    const judged = live({ verdict, why: ['the reason', 'another'], name: 'x', command: 'x -v' });
    expect(doing(row(judged))).toEqual({ text: 'the reason', tone });
    expect(doing(row(judged, { inherits: true }))).toEqual({ text: '-v', tone: 'faint' });
    expect(doing(row({ ...judged, why: [] })).text).toBe('-v');
  });

  test('a verdict that asks for nothing gives no reason', () => {
    const judged = live({ why: ['its parent works'], name: 'x', command: 'x -v' });
    expect(doing(row(judged)).text).toBe('-v');
  });

  test('a heartbeat comes after the reason of a leak and before that of a protection', () => {
    const silent = beat({ state: 'critical', ageSeconds: 780, task: '688' });
    const told = { text: 'silent for 13m: task 688', tone: 'bad' };
    expect(doing(row(live(), { beat: silent }))).toEqual(told);
    expect(doing(row(live({ verdict: 'protected', why: ['w'] }), { beat: silent }))).toEqual(told);
    expect(doing(row(live({ verdict: 'leak', why: ['w'] }), { beat: silent })).text).toBe('w');
    // A transcript says no more than that it is written to.
    expect(doing(row(live({ verdict: 'protected', why: ['w'] }), { beat: beat({}) })).text).toBe('w');
  });

  test('the session of an agent first; the louder of the two gives the tone', () => {
    const told = { beat: beat({ state: 'critical', ageSeconds: 780 }) };
    const agent = (change: Partial<AgentSession>) => live({ kind: 'agent', session: session(change) });
    expect(doing(row(agent({ doing: 'busy' })))).toEqual({ text: 'proofs: busy', tone: 'good' });
    expect(doing(row(agent({})))).toEqual({ text: 'proofs', tone: 'faint' });
    expect(doing(row(agent({ doing: 'busy' }), told))).toEqual({
      text: 'proofs: busy; silent for 13m',
      tone: 'bad',
    });
    expect(doing(row(agent({ doing: 'waiting' }), told))).toEqual({
      text: 'proofs: waits for you; silent for 13m',
      tone: 'warn',
    });
    expect(doing(row(agent({ project: null }), told)).text).toBe('silent for 13m');
    expect(doing(row(agent({ doing: 'busy' })), { cells: 4, ellipsis: '~' }).text).toBe('busy');
  });

  test('shows that it has ended; on a heading its note', () => {
    expect(doing(row(live(), { gone: true }))).toEqual({ text: 'it has ended', tone: 'faint' });
    expect(doing(row(null, { gone: true })).text).toBe('all ended');
    expect(doing(row(null, { group: { note: 'detached' } as Row['group'] }))).toEqual({
      text: 'detached',
      tone: 'faint',
    });
    expect(doing(row(null)).text).toBe('');
  });
});
