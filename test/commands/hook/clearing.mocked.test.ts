import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Act, Deed } from '../../../src/act/perform.ts';
import { clearAll } from '../../../src/commands/hook/clearing.ts';
import type { HookContext } from '../../../src/commands/hook/context.ts';
import { contextOf } from '../../../src/commands/hook/context.ts';
import { understand } from '../../../src/judge/hooks/input.ts';
import type { JudgedProcess, Snapshot } from '../../../src/model/snapshot.ts';
import { FakeSystem } from '../../act/fake-system.ts';
import { EVENTS } from '../../fixtures/hooks.ts';
import { invent, machine } from '../../judge/plan/machine.ts';
import { Sandbox } from '../../support/sandbox.ts';

/** What the machine shows, look after look, and what was asked of it. */
const stage = vi.hoisted(() => ({
  looks: [] as unknown[],
  prepared: [] as unknown[][],
  acts: [] as unknown[],
}));
vi.mock('../../../src/collect/prepare.ts', () => ({
  prepareWith: async (...args: unknown[]) => {
    stage.prepared.push(args);
    const collector = {
      lineage: { membersOf: () => [], entries: () => [], adopt: () => {} },
      collect: async () => stage.looks.shift(),
    };
    return { system: new FakeSystem(), collectorWith: () => collector, config: {} };
  },
}));
vi.mock('../../../src/act/perform.ts', () => ({
  perform: async (act: unknown) => {
    stage.acts.push(act);
    return { status: 'done', deed: { outcomes: [], durationMs: 0 }, warnings: [], audited: true };
  },
}));

let sandbox: Sandbox;
let context: HookContext;
beforeEach(() => {
  sandbox = new Sandbox();
  Object.assign(stage, { looks: [], prepared: [], acts: [] });
  const json = { ...EVENTS.SessionStart, cwd: sandbox.path('work'), session_id: 'starting' };
  context = contextOf(understand('SessionStart', JSON.stringify(json))!, sandbox.env);
});
afterEach(() => sandbox.close());

/** Who gets which signal when a session starts and the machine looks like this, twice. */
const signals = async (first: readonly JudgedProcess[], second = first): Promise<string[]> => {
  stage.looks = [first, second].map((processes): Snapshot => machine(...processes));
  await clearAll(context, 0);
  return (stage.acts as Act<Deed>[]).flatMap(({ plan }) =>
    plan.steps.map(({ pid, signal }) => `${pid} ${signal}`),
  );
};

describe('a session that starts', () => {
  const [leak, live] = (['leak', 'live'] as const).map(verdict => invent(1100, 1, { kind: 'mcp', verdict }));

  test.each<[string, string[], () => readonly [JudgedProcess, JudgedProcess]]>([
    ['leaked at both looks', ['1100 SIGTERM'], () => [leak!, leak!]],
    ['leaked at the first look and live at the second', [], () => [leak!, live!]],
    ['leaked at the second look only', [], () => [live!, leak!]],
  ])('what is %s: %j', async (_, expected, looks) => {
    const [first, second] = looks();
    expect(await signals([first], [second])).toEqual(expected);
  });

  test('only nudges a live server whose zombie is hours old, and ends nothing for it', async () => {
    const agent = invent(1000, 1, { kind: 'agent', verdict: 'live' });
    const server = invent(1100, 1000, { kind: 'lean-lsp', verdict: 'live' });
    const zombie = invent(1101, 1100, { verdict: 'live', facts: { state: 'Z' } });
    expect(await signals([agent, server, zombie])).toEqual(['1100 SIGCHLD']);
  });

  test('is known to be alive though Claude has not written it down yet', async () => {
    await signals([]);
    expect(stage.prepared[0]?.[5]).toMatchObject([
      { pid: context.agent?.pid, procStart: context.agent?.start, sessionId: 'starting', spare: false },
    ]);
  });
});
