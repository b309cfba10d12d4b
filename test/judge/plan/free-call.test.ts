import { describe, expect, it } from 'vitest';
import { planFix } from '../../../src/judge/plan/fix.ts';
import { stillHangs } from '../../../src/judge/plan/free-call.ts';
import { DEFAULT_CONFIG } from '../../../src/model/config-defaults.ts';
import type { FixWay, Plan } from '../../../src/model/plan.ts';
import { AGENT, type HungCall, LEAN, SERVER, withHungCall } from '../../support/hung-call.ts';
import { type Row, tmux } from '../../support/world.ts';

const plan = (call: HungCall = {}, way?: FixWay): Plan => {
  const snapshot = withHungCall(call);
  const finding = snapshot.findings.find(({ id }) => id === 'call-hung' || id === 'session-hung')!;
  return planFix({ snapshot, finding, way, config: DEFAULT_CONFIG, lineageMembers: () => [] });
};

/** The agent in a pane of its own; the stand-in for its terminal is the pane's. */
const paned = (attached: boolean, extra: Row[3] = {}): Pick<HungCall, 'rows' | 'tmux'> => ({
  rows: [
    [900, 1, 'tmux: server', { comm: 'tmux: server' }],
    [AGENT, 900, 'claude', { born: 10, tty: 'pts/0', details: { cwd: '/home/me/proofs' }, ...extra }],
    LEAN,
  ],
  tmux: [
    {
      ...tmux(900, [AGENT]),
      panes: tmux(900, [AGENT]).panes.map(pane => ({ ...pane, attached })),
    },
  ],
});

describe('ending the server', () => {
  it('is the way where no pane is known: its whole tree, who loses it, and how it comes back', () => {
    const child: Row = [SERVER + 1, SERVER, 'lake serve'];
    const found = plan({ rows: [LEAN, child] });
    expect(found.steps.map(({ pid }) => pid)).toEqual([SERVER + 1, SERVER]);
    expect(found.steps[1]?.why).toBe('claude (1000) proofs loses this server; /mcp there brings it back');
    expect(found.otherSteps).toEqual([
      {
        act: 'free-call',
        target: 'lean-lsp lean_diagnostic_messages of claude (1000)',
        why: 'the call fails, and the agent goes on by itself',
      },
    ]);
    expect(found.frees).toMatchObject([
      { agent: { pid: AGENT }, server: { pid: SERVER }, calls: ['toolu_1'] },
    ]);
    expect(found.otherWay).toBeUndefined();
  });

  it('never takes the agent itself', () => {
    const pids = plan().steps.map(({ pid }) => pid);
    expect(pids).not.toContain(AGENT);
  });

  it('what is protected stays, and then nothing is promised', () => {
    const config = { ...DEFAULT_CONFIG, protect: ['lean-lsp-mcp'] };
    const found = plan({ config });
    expect(found).toMatchObject({ steps: [], refused: [{ pid: SERVER }] });
    expect(found.otherSteps).toBeUndefined();
  });
});

describe('interrupting', () => {
  it('is the way where somebody is attached, and the other one where nobody is', () => {
    expect(plan(paned(true))).toMatchObject({
      steps: [],
      otherSteps: [{ act: 'send-escape' }],
      otherWay: 'end',
    });
    expect(plan(paned(false))).toMatchObject({ otherSteps: [{ act: 'free-call' }], otherWay: 'interrupt' });
    expect(plan(paned(false), 'interrupt')).toMatchObject({
      steps: [],
      otherSteps: [{ act: 'send-escape', target: 'Escape to claude (1000) in tmux main %0' }],
      frees: [{ calls: ['toolu_1'] }],
      otherWay: 'end',
    });
  });

  it.each<[string, HungCall, string]>([
    ['it is in no pane', {}, 'not in a reachable tmux pane'],
    ['a subagent waits', { ...paned(true), subagent: true }, 'does not reach its subagents'],
    ['its terminal is not that of the pane', paned(true, { tty: 'pts/7' }), 'is not its own'],
    [
      'tmux does not answer',
      { ...paned(true), tmux: [{ ...tmux(900, [AGENT]), reachable: false }] },
      'not in a reachable tmux pane',
    ],
  ])('no key is planned when %s', (_, call, why) => {
    const found = plan(call, 'interrupt');
    expect(found.otherSteps).toBeUndefined();
    expect(found.refused[0]?.why).toContain(why);
  });
});

it('a call that is over, or another one by now, does not hang any more', () => {
  const frees = plan().frees![0]!;
  expect(stillHangs(frees, withHungCall())).toBe(true);
  expect(stillHangs(frees, withHungCall({ seconds: 3 }))).toBe(false);
  expect(stillHangs({ ...frees, calls: ['toolu_9'] }, withHungCall())).toBe(false);
  expect(stillHangs({ ...frees, agent: { pid: 4, start: '1' } }, withHungCall())).toBe(false);
});

it('a finding that is over plans nothing', () => {
  const snapshot = withHungCall();
  const [finding] = snapshot.findings;
  const later = withHungCall({ seconds: 3 });
  const found = planFix({
    snapshot: later,
    finding: finding!,
    config: DEFAULT_CONFIG,
    lineageMembers: () => [],
  });
  expect(found).toMatchObject({ steps: [], refused: [{ why: 'it is already resolved' }, {}] });
});
