import fc from 'fast-check';
import { type ParseError, parse } from 'jsonc-parser';
import { describe, expect, it, test } from 'vitest';
import { wantedHooks } from '../../src/hooks/install.ts';
import { hooksIn, withHooks, withoutHooks } from '../../src/hooks/settings-edit.ts';

const by = (command: string) => (event: string) => `${command} hook ${event}`;
const TOOLS = { buildTools: ['mcp__x'], broadKills: null };
const WANTED = wantedHooks(by('reaptop'), TOOLS);

const meaning = (text: string): unknown => {
  const errors: ParseError[] = [];
  const value: unknown = parse(text.replace(/^\ufeff/, ''), errors, { allowTrailingComma: true });
  expect(errors).toEqual([]);
  return value;
};

/** Every character of the one comes in the other, in its order. */
const isWithin = (part: string, whole: string): boolean => {
  let at = 0;
  for (const letter of whole) if (letter === part[at]) at += 1;
  return at === part.length;
};

const SHAPES: readonly (readonly [string, string])[] = [
  ['an empty object', '{}'],
  ['an object with a line in it', '{\n}\n'],
  ['settings in two blanks', '{\n  "model": "opus",\n  "env": {\n    "A": "1"\n  }\n}\n'],
  ['settings in tabs, without a last newline', '{\n\t"model": "opus"\n}'],
  ['settings with CRLF', '{\r\n    "model": "opus"\r\n}\r\n'],
  ['one line', '{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}'],
  [
    'comments everywhere',
    '// top\n{\n  // a\n  "model": "opus", // b\n  /* c */ "hooks": { // d\n    "Stop": [ // e\n    ] /* f */\n  } // g\n}\n// end\n',
  ],
  ['a trailing comma', '{\n  "model": "opus",\n}\n'],
  [
    'hooks of others',
    '{\n  "hooks": {\n    "Stop": [\n      { "matcher": "", "hooks": [{ "type": "command", "command": "say done" }] }\n    ]\n  },\n  "last": true\n}\n',
  ],
  ['an empty list', '{ "hooks": { "Stop": [] } }'],
  ['keys that we do not know', '{"hooks":{"NewEvent":[1,2],"Stop":[{"if":"x","hooks":[]}]},"$schema":"s"}'],
  ['a byte order mark', '\ufeff{\n  "a": 1\n}\n'],
  ['strings that look like comments', '{"a": "// no", "b": "/* no */ }{", "hooks": {}}'],
];

describe.each(SHAPES)('%s', (_, before) => {
  it('loses not a byte, and gets every hook once', () => {
    const after = withHooks(before, WANTED);
    expect(isWithin(before, after)).toBe(true);
    expect(hooksIn(after).map(({ event }) => event)).toEqual(WANTED.map(({ event }) => event));
    const { hooks = {}, ...others } = meaning(before) as { hooks?: Record<string, unknown[]> };
    const made = meaning(after) as { hooks: Record<string, unknown[]> };
    expect(made).toMatchObject(others);
    for (const [event, groups] of Object.entries(hooks))
      expect(made.hooks[event]!.slice(0, groups.length)).toEqual(groups);
  });

  it('is left alone by a second time', () => {
    const after = withHooks(before, WANTED);
    expect(withHooks(after, WANTED)).toBe(after);
  });

  it('means what it meant before when they are taken out again', () => {
    const after = withHooks(before, WANTED);
    const { hooks: kept, ...others } = meaning(withoutHooks(after)) as { hooks?: Record<string, unknown[]> };
    const { hooks: had, ...before_ } = meaning(before) as { hooks?: Record<string, unknown[]> };
    expect(others).toEqual(before_);
    const nonEmpty = (hooks: Record<string, unknown[]> = {}) =>
      Object.fromEntries(Object.entries(hooks).filter(([, groups]) => groups.length > 0));
    expect(nonEmpty(kept)).toEqual(nonEmpty(had));
    for (const comment of before.match(/(?:\/\/ \w+|\/\* \w+ \*\/)$/gm) ?? [])
      expect(withoutHooks(after)).toContain(comment.trim());
  });

  it('keeps its line ends and its indentation', () => {
    const after = withHooks(before, WANTED);
    if (before.includes('\r\n')) expect(after.replaceAll('\r\n', '')).not.toContain('\n');
    else expect(after).not.toContain('\r');
    if (before.includes('\n\t"')) expect(after).not.toMatch(/^ /m);
    expect(after.endsWith('\n')).toBe(before.endsWith('\n'));
  });
});

test('nothing, or only a comment, becomes a file of ours', () => {
  for (const text of ['', '\n', '// mine\n', '// mine']) {
    const after = withHooks(text, WANTED);
    expect(after.startsWith(text)).toBe(true);
    expect(hooksIn(after)).toHaveLength(WANTED.length);
  }
});

test('only the events that are asked for', () => {
  const after = withHooks('{}', wantedHooks(by('reaptop'), TOOLS, ['Stop']));
  expect(meaning(after)).toEqual({
    hooks: { Stop: [{ hooks: [{ type: 'command', command: 'reaptop hook Stop', timeout: 15 }] }] },
  });
});

test('one that starts us in another way is brought up to date in its place', () => {
  const old = withHooks('{}', wantedHooks(by("'/old/node' '/old/reaptop/dist/cli.js'"), TOOLS));
  const after = withHooks(old, WANTED);
  expect(hooksIn(after).map(({ command }) => command)).toEqual(
    WANTED.map(({ event }) => `reaptop hook ${event}`),
  );
});

test.each([
  ['{"a": }', /not valid JSON \(line 1/],
  ['{\n"a": 1\n', /not valid JSON/],
  ['[]', /does not hold an object/],
  ['{"hooks": []}', /"hooks" is not an object/],
  ['{"hooks": {"Stop": {}}}', /"hooks.Stop" is not a list/],
])('%s is refused', (text, why) => {
  expect(() => withHooks(text, WANTED)).toThrow(why);
});

test('a file of ours begins on a line of its own', () => {
  const [hook] = wantedHooks(by('reaptop'), TOOLS, ['Stop']);
  const ours = `${JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command: 'reaptop hook Stop', timeout: 15 }] }] } }, null, 2)}\n`;
  for (const [text, line] of [
    ['', ''],
    ['\n', ''],
    ['// mine\n', ''],
    ['// mine', '\n'],
    ['\n// mine', '\n'],
  ] as const)
    expect(withHooks(text, [hook!])).toBe(`${text}${line}${ours}`);
});

describe('hooks that are not ours', () => {
  const OURS = '{"type":"command","command":"reaptop hook Stop"}';
  const stop = (groups: string): string => `{"hooks":{"Stop":${groups}}}`;

  test.each<[string, string, string]>([
    ['beside ours in one group', stop(`[{"hooks":[${OURS},1]}]`), stop('[{"hooks":[1]}]')],
    ['before ours in one group', stop(`[{"hooks":[1, ${OURS}]}]`), stop('[{"hooks":[1]}]')],
    ['in another group', stop(`[{"hooks":[${OURS}]}, {"hooks":[1]}]`), stop('[{"hooks":[1]}]')],
    ['of another event', `{"hooks":{"Stop":[{"hooks":[${OURS}]}],"Other":[1]}}`, '{"hooks":{"Other":[1]}}'],
    ['a comment in the list', stop(`[/*a*/{"hooks":[${OURS}]}]`), stop('[/*a*/]')],
    ['a comment that looks like a list', stop(`[{"hooks":[${OURS}]},1 // [\n]`), stop('[1 // [\n]')],
    ['a list that was empty before', stop('[]'), stop('[]')],
    ['no hooks at all', '{"hooks":{}}', '{"hooks":{}}'],
    [
      'rubbish',
      stop('[null,{"hooks":[null,7]},7,{"hooks":7}]'),
      stop('[null,{"hooks":[null,7]},7,{"hooks":7}]'),
    ],
    [
      'a command that is a list',
      stop('[{"hooks":[{"command":["reaptop hook Stop"]}]}]'),
      stop('[{"hooks":[{"command":["reaptop hook Stop"]}]}]'),
    ],
    [
      'a command of another event, or that goes on',
      stop('[{"hooks":[{"command":"reaptop hook PreToolUse"},{"command":"reaptop hook Stop; x"}]}]'),
      stop('[{"hooks":[{"command":"reaptop hook PreToolUse"},{"command":"reaptop hook Stop; x"}]}]'),
    ],
  ])('stay: %s', (_, text, after) => expect(withoutHooks(text)).toBe(after));

  test('removes both copies of a hook of ours', () =>
    expect(withoutHooks(stop(`[{"hooks":[${OURS},${OURS}]},{"hooks":[${OURS}]}]`))).toBe('{}'));
});

test('a command that is written in another way, but is ours already, keeps its bytes', () => {
  const text = '{"hooks":{"Stop":[{"hooks":[{"command":"reaptop\\u0020hook Stop"}]}]}}';
  expect(withHooks(text, wantedHooks(by('reaptop'), TOOLS, ['Stop']))).toBe(text);
});

test('a hook that is for certain tools says so', () => {
  const { hooks } = meaning(withHooks('{}', WANTED)) as { hooks: Record<string, { matcher?: string }[]> };
  for (const { event, matcher } of WANTED)
    expect(hooks[event]?.map(group => group.matcher)).toContain(matcher ?? undefined);
  expect(WANTED.some(({ matcher }) => matcher !== null)).toBe(true);
});

test('what is wrong is told with its line', () => {
  expect(() => hooksIn('{\n"a": }\n\n')).toThrow('it is not valid JSON (line 2: ValueExpected)');
  expect(() => hooksIn('{"hooks":\n[1]}')).toThrow('its "hooks" is not an object');
});

test('random settings with comments lose nothing and get everything', () => {
  // The parser that tells the meaning here cannot hold that key; the test below has it.
  const value = fc.jsonValue({ maxDepth: 3 }).filter(json => !JSON.stringify(json).includes('__proto__'));
  const group = fc.oneof(
    fc.record({
      hooks: fc.array(fc.record({ type: fc.constant('command'), command: fc.string() }), { maxLength: 2 }),
    }),
    value,
  );
  const settings = fc.tuple(
    fc.dictionary(
      fc.string().filter(key => key !== 'hooks' && key !== '__proto__'),
      value,
      { maxKeys: 4 },
    ),
    fc.option(
      fc.dictionary(fc.constantFrom('Stop', 'PreToolUse', 'Other'), fc.array(group, { maxLength: 3 }), {
        maxKeys: 3,
      }),
    ),
    fc.constantFrom<string | number>(0, 2, 4, '\t'),
    fc.constantFrom('\n', '\r\n'),
    fc.array(fc.constantFrom('// c\n', '/* c */', ' ', '\n'), { maxLength: 6 }),
  );
  fc.assert(
    fc.property(settings, ([plain, hooks, indent, eol, noise]) => {
      const json = JSON.stringify(hooks === null ? plain : { ...plain, hooks }, null, indent).replaceAll(
        '\n',
        eol,
      );
      const meant = JSON.parse(JSON.stringify(plain)); // JSON has no -0
      const before = withNoise(json, noise);
      const after = withHooks(before, WANTED);
      expect(isWithin(before, after)).toBe(true);
      expect(hooksIn(after)).toHaveLength(WANTED.length);
      expect(meaning(after)).toMatchObject(meant);
      expect(hooksIn(withoutHooks(after))).toEqual([]);
      expect(meaning(withoutHooks(after))).toMatchObject(meant);
    }),
    { numRuns: 60 },
  );
});

test('a key that no object can hold stays in the text', () => {
  const text = '{"a": {"__proto__": {"b": 1}}}';
  const after = withHooks(text, WANTED);
  expect(after).toContain('"a": {"__proto__": {"b": 1}}');
  expect(JSON.parse(withoutHooks(after))).toEqual(JSON.parse(text));
});

/** Comments and blanks behind structural characters, outside of strings. */
const withNoise = (json: string, noise: readonly string[]): string => {
  let out = '';
  let inString = false;
  let next = 0;
  for (let at = 0; at < json.length; at += 1) {
    const letter = json[at]!;
    out += letter;
    if (letter === '\\' && inString) {
      at += 1;
      out += json[at];
    } else if (letter === '"') inString = !inString;
    else if (!inString && '{}[],:'.includes(letter)) {
      out += noise[next % Math.max(1, noise.length)] ?? '';
      next += 1;
    }
  }
  return out;
};
