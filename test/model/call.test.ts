import { expect, test } from 'vitest';
import { type Call, callDetail, callsText, tokensText } from '../../src/model/call.ts';
import { type AgentSession, sessionText } from '../../src/model/snapshot.ts';

const call = (tool: string, seconds: number, extra: Partial<Call> = {}): Call => ({
  id: tool,
  tool,
  server: null,
  startedAt: 0,
  subagent: false,
  seconds,
  process: null,
  join: 'itself',
  ...extra,
});

const session = (calls: readonly Call[], extra: Partial<AgentSession> = {}): AgentSession => ({
  id: null,
  project: 'proofs',
  name: null,
  doing: 'busy',
  waitingFor: null,
  seconds: 3,
  calls,
  ...extra,
});

test('says which call is pending, of which server, and for how long', () => {
  expect(callsText([call('Bash', 12)])).toBe('busy: Bash 12s');
  const slow = call('lean_diagnostic_messages', 180, { server: 'lean-lsp' });
  expect(callsText([slow])).toBe('busy: lean-lsp lean_diagnostic_messages 3m');
  expect(callsText([slow], true)).toBe('busy: lean_diagnostic_messages 3m');
  expect(callsText([call('Bash', 12), call('Read', 40)])).toBe('2 calls, oldest 40s');
  expect(callsText([call('Agent', 90), call('Read', 2, { subagent: true })])).toBe('subagent: Read 2s');
  expect(callsText([call('Agent', 90)])).toBe('busy: Agent 1m');
  expect(callsText([call('Bash', 0, { seconds: null })])).toBe('busy: Bash');
  expect(callsText([])).toBe('');
});

test('what hangs is said before anything else', () => {
  const hung = call('lean_goal', 780, { server: 'lean-lsp', hung: true });
  expect(callsText([call('Bash', 900), hung])).toBe('hung: lean-lsp lean_goal 13m');
  expect(callsText([hung, { ...hung, id: 'b', seconds: 60 }], true)).toBe('hung: lean_goal 13m and 1 more');
});

test('a row has it with the project, in short where there is little room', () => {
  const hung = session([call('lean_goal', 780, { server: 'lean-lsp', hung: true })]);
  expect(sessionText(hung)).toBe('proofs: hung: lean-lsp lean_goal 13m');
  expect(sessionText(hung, { cells: 30, ellipsis: '…' })).toBe('proofs: hung: lean_goal 13m');
  expect(sessionText(session([]))).toBe('proofs: busy');
});

test('a session that waits for its user says so, whatever is pending', () => {
  const waiting = session([call('Bash', 900)], {
    doing: 'waiting',
    waitingFor: 'permission prompt',
    seconds: 60,
  });
  expect(sessionText(waiting)).toBe('proofs: waits for you: permission prompt 1m');
});

test('tokens are told in thousands', () => {
  expect(tokensText(142_010)).toBe('142k');
  expect(tokensText(900)).toBe('900');
});

test('the detail names who works on a call, or says that this is not known', () => {
  const goal = call('lean_goal', 780, { server: 'lean-lsp', process: { pid: 48, start: '1' }, join: 'name' });
  expect(callDetail({ ...goal, hung: true }, 'lean-lsp-mcp')).toBe(
    'lean-lsp lean_goal for 13m, hung: lean-lsp-mcp (48)',
  );
  const lost = { ...goal, process: null };
  expect(callDetail({ ...lost, join: 'gone' }, null)).toContain('its server is not running');
  expect(callDetail({ ...lost, join: 'unknown', candidates: 2 }, null)).toContain('which of 2 processes');
  expect(callDetail({ ...lost, join: 'unknown' }, null)).toContain('no process of it is seen');
  expect(callDetail(call('Read', 2, { subagent: true }), null)).toBe(
    'Read (a subagent) for 2s: the agent itself',
  );
});
