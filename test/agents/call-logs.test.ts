import { describe, expect, test } from 'vitest';
import { CALL_LOGS, CallTracker, callLogOf } from '../../src/agents/call-logs.ts';
import { callLines } from '../fixtures/call-lines.ts';

const AT = '2026-11-18T05:55:14.386Z';

const told = (agent: string, lines: readonly object[], subagent = false) => {
  const tracker = new CallTracker(callLogOf(agent)!, subagent);
  for (const line of lines) tracker.take(line as never);
  return tracker.told();
};
const pending = (agent: string, lines: readonly object[], subagent = false) =>
  told(agent, lines, subagent).pending.map(({ server, tool }) =>
    server === null ? tool : `${server}/${tool}`,
  );

const { claude, codex, copilot, gemini } = callLines;

describe('claude', () => {
  test('a call is pending from its line to the line of its result', () => {
    const call = claude.call('toolu_2', 'mcp__lean-lsp__lean_goal', { at: AT });
    expect(told('claude', [claude.prompt(), call]).pending).toEqual([
      {
        id: 'toolu_2',
        tool: 'lean_goal',
        server: 'lean-lsp',
        startedAt: Date.parse(AT),
        subagent: false,
      },
    ]);
    expect(pending('claude', [call, claude.result('toolu_2')])).toEqual([]);
    expect(pending('claude', [call, claude.result('toolu_3')])).toEqual(['lean-lsp/lean_goal']);
  });

  test('blocks of one message are pending together; what the model says next ends all of them', () => {
    const both = [claude.call('a', 'Bash', { message: 'm1' }), claude.call('b', 'Read', { message: 'm1' })];
    expect(pending('claude', both)).toEqual(['Bash', 'Read']);
    expect(pending('claude', [...both, claude.result('a')])).toEqual(['Read']);
    expect(pending('claude', [...both, claude.call('c', 'Grep', { message: 'm2' })])).toEqual(['Grep']);
  });

  test('what its user says ends what was pending: it was interrupted, or the session was resumed', () => {
    const call = claude.call('a', 'Bash');
    expect(pending('claude', [call, claude.prompt()])).toEqual([]);
    expect(pending('claude', [call, { ...claude.prompt(), isMeta: true }])).toEqual(['Bash']);
  });

  test('lines of a subagent in the transcript of its session are not calls of that', () => {
    const call = { ...claude.call('a', 'Bash'), isSidechain: true };
    expect(pending('claude', [call])).toEqual([]);
    expect(pending('claude', [call], true)).toEqual(['Bash']);
    expect(told('claude', [call], true).pending[0]?.subagent).toBe(true);
  });

  test('the model and how much it read last are kept, and neither arguments nor texts', () => {
    const all = told('claude', [claude.call('a', 'Bash', { usage: [10, 2000, 140_000] })]);
    expect(all).toMatchObject({ model: 'claude-opus-5-5', tokens: 142_010 });
    expect(JSON.stringify(all)).not.toContain('secret argument');
    expect(told('claude', [claude.call('a', 'Bash', { model: '<synthetic>' })]).model).toBe(null);
  });

  test('a name cannot forge rows or control a terminal, and is cut', () => {
    const [evil] = told('claude', [claude.call('a', `mcp__x\u001b[2J\n__${'y'.repeat(500)}`)]).pending;
    expect(evil?.server).not.toMatch(/[\u0000-\u001f]/);
    expect(evil?.tool.length).toBeLessThanOrEqual(80);
    expect(pending('claude', [claude.call('a', '   '), claude.call('', 'Bash')])).toEqual([]);
    const many = Array.from({ length: 500 }, (_, n) => claude.call(`t${n}`, 'Bash', { message: 'm' }));
    expect(pending('claude', many)).toHaveLength(64);
  });
});

test('codex: calls by call_id, servers by namespace; the end of a turn ends all', () => {
  const call = codex.call('call_5', 'lean_goal', 'mcp__lean_lsp');
  expect(pending('codex', [codex.event('task_started'), call])).toEqual(['lean_lsp/lean_goal']);
  expect(pending('codex', [codex.call('c1', 'exec_command'), codex.result('c1')])).toEqual([]);
  expect(pending('codex', [codex.call('c1', 'exec_command')])).toEqual(['exec_command']);
  for (const over of ['turn_aborted', 'task_complete'])
    expect(pending('codex', [call, codex.event(over)])).toEqual([]);
  expect(told('codex', [codex.model('gpt-9'), codex.tokens(1234)])).toMatchObject({
    model: 'gpt-9',
    tokens: 1234,
  });
});

test('copilot: calls from their start to their end, with server and tool by name; an abort ends all', () => {
  const call = copilot.start('t1', 'lean-lsp-lean_goal', {
    mcpServerName: 'lean-lsp',
    mcpToolName: 'lean_goal',
  });
  expect(pending('copilot', [call, copilot.start('t2', 'bash')])).toEqual(['lean-lsp/lean_goal', 'bash']);
  expect(pending('copilot', [call, copilot.complete('t1')])).toEqual([]);
  expect(pending('copilot', [call, { type: 'abort', data: {} }])).toEqual([]);
  // A subagent that is given its task ends no call of the session.
  expect(pending('copilot', [call, { type: 'user.message', data: {}, agentId: 'sub' }])).toHaveLength(1);
  expect(told('copilot', [{ ...call, agentId: 'sub' }]).pending[0]?.subagent).toBe(true);
});

test('gemini writes a call down when it has ended: model and context are known, and no call is ever pending', () => {
  expect(told('gemini', [gemini.said(77)])).toEqual({ pending: [], model: 'gemini-2.5-pro', tokens: 77 });
});

test('no line of a call, a result, a prompt or the end of a turn is passed over unread', () => {
  const counts = Object.values(callLines).flatMap(family =>
    family.all.map(line => ({ agent: family.agent, text: JSON.stringify(line) })),
  );
  const passed = counts.filter(({ agent, text }) => callLogOf(agent)!.skip.test(text.slice(0, 256)));
  expect(passed).toEqual([]);
  expect(
    callLogOf('claude')!.skip.test('{"type":"api-request-blob","sessionId":"x","message":{"role":"user"'),
  ).toBe(true);
  expect(CALL_LOGS.map(({ agent }) => agent)).toEqual(['claude', 'codex', 'gemini', 'copilot']);
});

test('whatever a line holds, it is taken without an exception', () => {
  const odd: readonly object[] = [
    {},
    { type: 'assistant' },
    { type: 'assistant', message: { content: 'x' } },
    { type: 'assistant', message: { id: 7, content: [null, 1, { type: 'tool_use' }] } },
    { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: {} }] } },
    { type: 'response_item', payload: { type: 'function_call' } },
    { type: 'event_msg', payload: { type: 'token_count', info: null } },
    { type: 'tool.execution_start', data: [] },
    { type: 'gemini', tokens: 'many' },
  ];
  for (const { agent } of CALL_LOGS) expect(told(agent, odd).pending).toEqual([]);
});

describe('whether a turn is over', () => {
  test('codex says so, and a call or a new task opens it again', () => {
    const over = codex.event('task_complete');
    expect(told('codex', [codex.event('task_started')]).turn).toBe('open');
    expect(told('codex', [codex.event('task_started'), over]).turn).toBe('over');
    expect(told('codex', [over, codex.call('c', 'shell')]).turn).toBe('open');
    expect(told('codex', [codex.call('c', 'shell')]).turn).toBeUndefined();
  });

  test('copilot says so, and its user opens the next', () => {
    const idle = { type: 'session.idle', data: {} };
    expect(told('copilot', [idle]).turn).toBe('over');
    expect(told('copilot', [idle, { type: 'user.message', data: {} }]).turn).toBe('open');
    const end = { type: 'assistant.turn_end', data: {} };
    expect(told('copilot', [end]).turn).toBe('over');
    expect(told('copilot', [end, { type: 'assistant.turn_start', data: {} }]).turn).toBe('open');
    expect(told('copilot', [end, copilot.start('t', 'bash')]).turn).toBe('open');
  });

  test('is not known of claude, whose own file says it, nor of gemini, nor behind a line that is lost', () => {
    expect(told('claude', [claude.prompt()]).turn).toBeUndefined();
    expect(told('gemini', [gemini.said(1)]).turn).toBeUndefined();
    const tracker = new CallTracker(callLogOf('codex')!, false);
    tracker.take(codex.event('task_complete') as never);
    tracker.lost();
    expect(tracker.told().turn).toBeUndefined();
  });
});
