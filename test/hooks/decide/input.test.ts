import { describe, expect, it, test } from 'vitest';
import { taskNumberIn, tasksNamedIn, understand } from '../../../src/hooks/decide/input.ts';
import { EVENTS } from '../../fixtures/hooks.ts';

describe('what Claude Code sends', () => {
  test.each(Object.values(EVENTS))('$hook_event_name is understood', event => {
    const input = understand(event.hook_event_name, JSON.stringify(event));
    expect(input).toMatchObject({
      sessionId: event.session_id,
      cwd: event.cwd,
      event: event.hook_event_name,
    });
  });

  it('a tool call with its tool, its texts and the file it works on', () => {
    expect(understand('PreToolUse', JSON.stringify(EVENTS.PreToolUse))).toMatchObject({
      toolName: 'Bash',
      toolUseId: 'toolu_01',
      toolTexts: ['echo hi'],
      agentId: null,
    });
    const input = { file_path: '/p/A.lean', lean_project_path: '/p' };
    const lean = { ...EVENTS.PreToolUse, tool_input: input, agent_id: 'a1' };
    expect(understand('PreToolUse', JSON.stringify(lean))).toMatchObject({
      toolFile: '/p/A.lean',
      toolProject: '/p',
      agentId: 'a1',
    });
  });

  it('is nothing when it is cut anywhere', () => {
    const text = JSON.stringify(EVENTS.Stop);
    for (let length = 0; length < text.length; length += 1)
      expect(understand('Stop', text.slice(0, length))).toBeNull();
  });

  test.each<[string, unknown]>([
    ['null', null],
    ['a list', []],
    ['a number', 7],
    ['no session', { cwd: '/p' }],
    ['a session that is a number', { session_id: 7, cwd: '/p' }],
    ['a session that is a path', { session_id: '../../x', cwd: '/p' }],
    ['a hidden session', { session_id: '.x', cwd: '/p' }],
    ['an empty session', { session_id: '', cwd: '/p' }],
    ['no cwd', { session_id: 's' }],
    ['a relative cwd', { session_id: 's', cwd: 'p' }],
    ['a NUL in the cwd', { session_id: 's', cwd: '/p\0q' }],
    ['a cwd of 5,000 letters', { session_id: 's', cwd: `/${'p'.repeat(5000)}` }],
  ])('%s is no event', (_, event) => {
    expect(understand('Stop', JSON.stringify(event))).toBeNull();
  });

  it('fields of wrong types count as absent', () => {
    const odd = {
      session_id: 's',
      cwd: '/p',
      tool_name: {},
      tool_input: 'x',
      stop_hook_active: 'true',
      source: 3,
    };
    expect(understand('Stop', JSON.stringify(odd))).toMatchObject({
      toolName: null,
      toolTexts: [],
      stopHookActive: false,
      source: null,
    });
  });

  it('takes a tool input however deep and long, up to a bound', () => {
    let deep: unknown = 'x';
    for (let depth = 0; depth < 1000; depth += 1) deep = { deep };
    const event = {
      session_id: 's',
      cwd: '/p',
      tool_input: { deep, list: Array.from({ length: 500 }, () => 'y') },
    };
    expect(understand('PostToolUse', JSON.stringify(event))?.toolTexts.length).toBeLessThan(100);
  });
});

test.each<[string, readonly string[]]>([
  ['cat specs/688_add_zombie/plan.md', ['specs/688_add_zombie']],
  ['/home/me/p/specs/007_x/.postflight-pending', ['/home/me/p/specs/007_x']],
  ['specs/.postflight-pending', ['specs']],
  ["jq . 'specs/1_a/x.json' > specs/2_b/y", ['specs/1_a', 'specs/2_b']],
  ['ls myspecs/1_a', []],
  ['specs/$TASK/x specs/*', []],
  ['nothing of the kind', []],
])('%s names %j', (text, expected) => {
  expect(tasksNamedIn([text])).toEqual(expected);
});

describe('what a tool call has written to', () => {
  const written = (
    tool_name: string,
    tool_input: object,
    event: 'PostToolUse' | 'PreToolUse' = 'PostToolUse',
  ) => understand(event, JSON.stringify({ ...EVENTS.PostToolUse, tool_name, tool_input }))?.written;

  test.each<[string, object, readonly string[]]>([
    ['Write', { file_path: '/p/a', content: '> b' }, ['/p/a']],
    ['Edit', { file_path: '/p/a' }, ['/p/a']],
    ['MultiEdit', { file_path: '/p/a' }, ['/p/a']],
    ['NotebookEdit', { notebook_path: '/p/n.ipynb' }, ['/p/n.ipynb']],
    ['Read', { file_path: '/p/a' }, []],
    ['Glob', { pattern: 'specs/*' }, []],
    ['constructor', { file_path: '/p/a' }, []],
    ['Bash', { command: 'cat a b < c' }, []],
    ['Bash', { command: 'echo x > a; echo y >> "b c" && cat d >| e' }, ['a', 'b c', 'e']],
    [
      'Bash',
      { command: "cat > 'specs/1_a/.postflight-pending' << 'EOF'" },
      ['specs/1_a/.postflight-pending'],
    ],
    [
      'Bash',
      { command: 'x | tee -a specs/1_a/log; mkdir -p specs/2_b/x; touch specs/3_c/y' },
      ['specs/1_a/log', 'specs/2_b/x', 'specs/3_c/y'],
    ],
    ['Bash', { command: 7 }, []],
  ])('%s %j: %j', (tool, input, expected) => expect(written(tool, input)).toEqual(expected));

  test('is nothing before it was done', () => {
    expect(written('Write', { file_path: '/p/a' }, 'PreToolUse')).toEqual([]);
  });
});

test.each<[string, string | null]>([
  ['/implement 688', '688'],
  ['  /lean:implement 0688 --force', '688'],
  ['/implement 688b', null],
  ['/implement 6.5', null],
  ['implement 688', null],
  ['fix /implement 688', null],
  ['/implement task 688', null],
])('%j is for task %s', (prompt, expected) => expect(taskNumberIn(prompt)).toBe(expected));
