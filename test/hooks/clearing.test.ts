import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { NO_FILES } from '../../src/engine/agent-files.ts';
import type { Collector } from '../../src/engine/collector.ts';
import { type HookContext, hookContext } from '../../src/hooks/context.ts';
import { understand } from '../../src/hooks/decide/input.ts';
import { clearAll, preparedFor } from '../../src/hooks/session-start.ts';
import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
import type { JudgedProcess } from '../../src/model/snapshot.ts';
import { FakeSystem } from '../act/fake-system.ts';
import { EVENTS } from '../fixtures/hooks.ts';
import { invent, machine } from '../judge/plan/machine.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
let context: HookContext;
beforeEach(() => {
  sandbox = new Sandbox();
  vi.stubEnv('XDG_STATE_HOME', sandbox.path('state'));
  const json = { ...EVENTS.SessionStart, cwd: sandbox.path('work'), session_id: 'starting' };
  context = hookContext(understand('SessionStart', JSON.stringify(json))!, sandbox.env);
});
afterEach(() => {
  vi.unstubAllEnvs();
  return sandbox.close();
});

/** Who gets which signal when a session starts and the machine looks like this, look after look. */
const signals = async (...looks: (readonly JudgedProcess[])[]): Promise<string[]> => {
  const system = new FakeSystem();
  for (const { facts } of looks[0]!) system.add(facts.pid, facts.ppid ?? 1, facts);
  const samples = looks.map(processes => machine(...processes));
  const collector = {
    lineage: { membersOf: () => [], entries: () => [], adopt: () => {} },
    collect: async () => (samples.length > 1 ? samples.shift() : samples[0]),
  } as unknown as Collector;
  const { env } = context;
  await clearAll(context, 0, {
    system,
    collectorWith: () => collector,
    config: DEFAULT_CONFIG,
    env,
    warnings: [],
  });
  return system.sent;
};

describe('a session that starts', () => {
  const [leak, live] = (['leak', 'live'] as const).map(verdict => invent(1100, 1, { kind: 'mcp', verdict }));

  // A plan is checked once more right before the first signal: that is the third look.
  test.each<[string, string[], (JudgedProcess | undefined)[]]>([
    ['leaked at both looks', ['1100 SIGTERM'], [leak, leak, leak]],
    ['leaked at the first look and live at the second', [], [leak, live, leak]],
    ['leaked at the second look only', [], [live, leak, leak]],
    ['leaked at both looks and live before the signal', [], [leak, leak, live]],
  ])('what is %s: %j', async (_, expected, looks) => {
    expect(await signals(...looks.map(look => [look!]))).toEqual(expected);
  });

  test('only nudges a live server whose zombie is hours old, and ends nothing for it', async () => {
    const agent = invent(1000, 1, { kind: 'agent', verdict: 'live' });
    const server = invent(1100, 1000, { kind: 'lean-lsp', verdict: 'live' });
    const zombie = invent(1101, 1100, { verdict: 'live', facts: { state: 'Z' } });
    expect(await signals([agent, server, zombie])).toEqual(['1100 SIGCHLD']);
  });

  test('is known for what it is though Claude has not written it down yet', async () => {
    const { pid, start } = sandbox.start([sandbox.sleeper('claude'), '1000']);
    const { collectorWith } = await preparedFor({ ...context, agent: { pid, start } });
    const { processes } = await collectorWith(NO_FILES).collect({ all: true });
    expect(processes.find(p => p.facts.pid === pid)?.session).toMatchObject({ id: 'starting' });
  });
});
