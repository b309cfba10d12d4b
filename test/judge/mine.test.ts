import { describe, expect, test } from 'vitest';
import { mineOf } from '../../src/judge/mine.ts';
import type { AgentSession } from '../../src/model/snapshot.ts';
import { invent, pids, SELF, snapshotOf } from './plan/machine.ts';

const session = (calls: AgentSession['calls']): AgentSession => ({
  id: 'mine',
  project: 'app',
  name: null,
  doing: 'busy',
  waitingFor: null,
  seconds: null,
  calls,
});
const BASH = { id: 'toolu_1', server: null, tool: 'Bash' } as unknown as NonNullable<
  AgentSession['calls']
>[0];

/** A claude (100) whose Bash tool (110) runs reaptop, with another shell (120) and what else is given. */
const mine = (
  agent: Parameters<typeof invent>[2],
  ...others: readonly ReturnType<typeof invent>[]
): ReturnType<typeof mineOf> =>
  mineOf(
    snapshotOf([
      invent(100, 1, { kind: 'agent', agent: 'claude', name: 'claude', session: session([BASH]), ...agent }),
      invent(110, 100, { kind: 'wrapper', seen: { role: 'bash-tool' } }),
      invent(SELF, 110),
      invent(120, 100, { kind: 'wrapper', seen: { role: 'bash-tool' } }),
      ...others,
    ]),
    { sessionId: null },
  );
const own = (found: ReturnType<typeof mineOf>): number[] => pids((found?.processes ?? []).map(p => p.facts));
const shells = (found: ReturnType<typeof mineOf>): number[] => pids((found?.shells ?? []).map(p => p.facts));

describe('what is of the session that calls', () => {
  test('is below it, without the shell that runs reaptop', () => {
    const found = mine({}, invent(121, 120));
    expect(own(found)).toEqual([120, 121]);
    expect(shells(found)).toEqual([120]);
  });

  test('a program that serves several sessions does not tell which of them calls', () => {
    expect(mine({ seen: { role: 'session-host' } })).toBeNull();
  });

  test('what others run in the windows of a tmux server that it started is not its own', () => {
    expect(own(mine({}, invent(130, 100, { kind: 'tmux' }), invent(131, 130)))).toEqual([120, 130]);
  });

  test('without its log no shell is known to be in the background', () => {
    const found = mine({ session: session(undefined) });
    expect(shells(found)).toEqual([]);
    expect(found?.whyNoShells).toContain('cannot be read');
  });
});
