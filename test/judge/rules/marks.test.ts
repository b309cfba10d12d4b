import { describe, expect, test } from 'vitest';
import { EVIDENCE } from '../../../src/agents/families.ts';
import {
  carriesMarks,
  pidIn,
  pidsNamedBy,
  sessionsNamedBy,
  socketsNamedBy,
  variableOf,
  wasStartedByAgent,
} from '../../../src/judge/rules/environment-marks.ts';
import type { Node } from '../../../src/judge/rules/tree.ts';
import type { ProcessFacts } from '../../../src/model/process.ts';
import { grown } from './grown.ts';

type Env = ProcessFacts['env'];
const withEnv = (env: Env): Node => grown([[100, 77, 'x', 'other', { env }]]).at(100);

describe('a pid as a variable holds it', () => {
  test.each<[string | undefined, number | null]>([
    ['1', 1],
    ['4711', 4711],
    ['1234567890', 1234567890],
    ['12345678901', null],
    ['0', null],
    ['04711', null],
    ['-4711', null],
    [' 4711', null],
    ['4711 ', null],
    ['4711x', null],
    ['', null],
    ['undefined', null],
    [undefined, null],
  ])('%j is %s', (text, pid) => expect(pidIn(text)).toBe(pid));
});

describe('what an environment says', () => {
  const claude = EVIDENCE.find(({ agent }) => agent === 'claude')!;

  test.each<[string, Env, boolean]>([
    ['that was not read', null, false],
    ['without anything of an agent’s', {}, false],
    ['with a mark', { CLAUDECODE: '1' }, true],
    ['with an empty mark', { CLAUDECODE: '' }, true],
    ['with a mark that is not set', { CLAUDECODE: undefined } as unknown as Env, false],
    ['with other variables only', { HOME: '/home/me' } as unknown as Env, false],
  ])('%s', (_, env, started) => {
    expect(wasStartedByAgent(withEnv(env))).toBe(started);
    expect(carriesMarks(withEnv(env), claude)).toBe(started);
  });

  test('ignores marks of another family', () => {
    expect(carriesMarks(withEnv({ GEMINI_CLI: '1' }), claude)).toBe(false);
    expect(wasStartedByAgent(withEnv({ GEMINI_CLI: '1' }))).toBe(true);
  });

  test('names sessions, sockets and pids, and nothing where there is nothing', () => {
    const node = withEnv({
      CLAUDE_CODE_SESSION_ID: 'one',
      CODEX_THREAD_ID: 'two',
      CLAUDE_CODE_MESSAGING_SOCKET: '/run/s',
      CLAUDE_PID: '4711',
      OPENCODE_PID: 'x',
    });
    expect(sessionsNamedBy(node)).toEqual(['one', 'two']);
    expect(socketsNamedBy(node)).toEqual(['/run/s']);
    expect(pidsNamedBy(node)).toEqual([4711]);
    for (const env of [null, {}]) {
      const none = withEnv(env);
      expect([sessionsNamedBy(none), socketsNamedBy(none), pidsNamedBy(none)]).toEqual([[], [], []]);
    }
  });

  test('a family without such a variable names nothing, whatever is called null', () => {
    const odd = { null: 'x' } as unknown as Env;
    expect(variableOf(withEnv(odd), null)).toBeUndefined();
    expect(variableOf(withEnv(null), 'CLAUDE_PID')).toBeUndefined();
  });
});
