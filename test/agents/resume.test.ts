import { describe, expect, test } from 'vitest';
import { EVIDENCE } from '../../src/agents/families.ts';
import { isResumable, RESUMES, resumeOf, resumeWords, whyNotResumed } from '../../src/agents/resume.ts';
import { safeArgv } from '../../src/model/redact.ts';
import { shellLine } from '../../src/model/shell.ts';

const ID = '5d1f0c3e-1111-4222-8333-444455556666';

/** As a collector keeps the command line: redacted first. */
const resumed = (agent: string, ...argv: readonly string[]) => {
  const { words, dropped } = resumeWords(resumeOf(agent)!, ID, safeArgv(argv));
  return { line: shellLine(words), dropped };
};

describe('the way back to a session', () => {
  test('claude, codex, gemini and copilot are resumed as their own help says', () => {
    expect(resumed('claude', 'claude').line).toBe(`claude --resume ${ID}`);
    expect(resumed('codex', 'codex').line).toBe(`codex resume ${ID}`);
    expect(resumed('gemini', 'node', '/usr/bin/gemini').line).toBe(`gemini --resume ${ID}`);
    expect(resumed('copilot', 'copilot').line).toBe(`copilot --resume ${ID}`);
  });

  test('is unknown for other families', () => {
    for (const agent of ['opencode', 'aider', 'amp', null]) expect(resumeOf(agent)).toBeNull();
  });

  test('every family with a way back is one that we know by its marks', () => {
    for (const { agent } of RESUMES) expect(EVIDENCE.some(one => one.agent === agent)).toBe(true);
  });

  test('flags that matter are kept, with their values', () => {
    const { line, dropped } = resumed(
      'claude',
      ...['claude', '--dangerously-skip-permissions', '--model', 'opus', '--settings=/home/me/s.json'],
      ...['--add-dir', '/a b', '/c', '--mcp-config', 'one.json', 'two.json', 'fix the lemma'],
    );
    expect(line).toBe(
      `claude --resume ${ID} --dangerously-skip-permissions --model opus --settings=/home/me/s.json ` +
        "--add-dir '/a b' /c --mcp-config one.json two.json 'fix the lemma'",
    );
    expect(dropped).toEqual([]);
  });

  test('the first prompt, the old id and what only mattered at the start are not said again', () => {
    expect(resumed('claude', 'claude', '--resume', 'abcdef', '--fork-session', 'do it').line).toBe(
      `claude --resume ${ID}`,
    );
    expect(resumed('codex', 'codex', 'resume', 'abcdef', '-m', 'o5').line).toBe(`codex resume ${ID} -m o5`);
  });

  test.each([
    ['a key in JSON', ['--settings', '{"env":{"API_KEY":"sk-live-123456789012345678"}}'], '--settings'],
    ['servers in JSON', ['--mcp-config', '{"mcpServers":{}}'], '--mcp-config'],
    ['a masked value', ['--model', 'token=sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaa'], '--model'],
    ['an unknown flag', ['--frobnicate'], '--frobnicate'],
    ['a prompt of several lines', ['--append-system-prompt', 'a\nb'], '--append-system-prompt'],
  ])('%s is not written down, and is said to be missing', (_, flags, missing) => {
    const { line, dropped } = resumed('claude', 'claude', ...flags);
    expect(line).toBe(`claude --resume ${ID}`);
    expect(dropped).toEqual([missing]);
  });

  test('what follows -- is no flag', () => {
    expect(resumed('claude', 'claude', '--', '--model', 'opus').line).toBe(`claude --resume ${ID}`);
  });
});

describe('what has no way back', () => {
  test.each([
    ['claude', ['claude', '-p', 'go']],
    ['claude', ['claude', '--print']],
    ['claude', ['claude', '-cp', 'go']],
    ['claude', ['claude', '--no-session-persistence']],
    ['codex', ['codex', 'exec', 'go']],
    ['codex', ['codex', '-m', 'o5', 'e', 'go']],
    ['gemini', ['node', 'gemini', '--prompt=go']],
    ['copilot', ['copilot', '-p', 'go']],
  ])('%s by %j', (agent, argv) => {
    expect(whyNotResumed(resumeOf(agent)!, argv)).not.toBeNull();
  });

  test.each([
    ['claude', ['claude', '--dangerously-skip-permissions', '-c']],
    ['claude', ['claude', '--', '-p']],
    ['codex', ['codex', '-p', 'work', '-m', 'e']],
  ])('%s by %j has one', (agent, argv) => {
    expect(whyNotResumed(resumeOf(agent)!, argv)).toBeNull();
  });

  test.each([null, '', 'short', '--resume', 'a b c d e f', 'x'.repeat(81), '../../etc/passwd', 'a;reboot'])(
    'the id %j is not typed into a shell',
    id => {
      expect(isResumable(id)).toBe(false);
    },
  );
});
