import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitWords } from '../../src/model/shell.ts';
import { quoteArgs } from '../../src/model/text.ts';

test.each([
  ['node  server.js   --port 80', ['node', 'server.js', '--port', '80']],
  [`sh -c 'echo hi' ''`, ['sh', '-c', 'echo hi', '']],
  [`echo don't stop, it's fine`, ['echo', "don't", 'stop,', "it's", 'fine']],
  [`x "a b" 'unclosed c`, ['x', 'a b', "'unclosed", 'c']],
  [
    `claude --settings {"env": {"A": "b c"}} -p x`,
    ['claude', '--settings', '{"env": {"A": "b c"}}', '-p', 'x'],
  ],
  [`claude --settings={ "a": [1, 2] } -p`, ['claude', '--settings={ "a": [1, 2] }', '-p']],
  [`claude --mcp-config {"env": {"A": "cut he`, ['claude', '--mcp-config', '{"env": {"A": "cut he']],
  [`awk {print $1} x`, ['awk', '{print', '$1}', 'x']],
  [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome --type=x',
    ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', '--type=x'],
  ],
  [
    '/Applications/Visual Studio Code.app/Contents/Frameworks/Code Helper (Plugin).app/Contents/MacOS/Code Helper (Plugin) --a',
    [
      '/Applications/Visual Studio Code.app/Contents/Frameworks/Code Helper (Plugin).app/Contents/MacOS/Code Helper (Plugin)',
      '--a',
    ],
  ],
  [
    '/Users/me/Library/Application Support/Claude/claude-code/claude -p',
    ['/Users/me/Library/Application Support/Claude/claude-code/claude', '-p'],
  ],
  [
    '/Applications/ChatGPT.app/Contents/Resources/codex app-server',
    ['/Applications/ChatGPT.app/Contents/Resources/codex', 'app-server'],
  ],
  ['', []],
])('%j', (line, words) => expect(splitWords(line)).toEqual(words));

test('reads back exactly what quoteArgs wrote', () => {
  const word = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom(' ', "'", '"', '\\', '{', '}', '[', 'a', '=', '-', '\t') }),
  );
  fc.assert(
    fc.property(fc.array(word), argv => {
      expect(splitWords(quoteArgs(argv, 1e6))).toEqual(argv);
    }),
    { numRuns: 2000 },
  );
});
