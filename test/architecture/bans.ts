import type { Node } from 'oxc-parser';
import { childrenOf, type GlobalUse, globalUses } from './globals.ts';
import { roomOf, type Source } from './sources.ts';

/** Rooms that are functions of their arguments. */
export const PURE_ROOMS = ['model', 'agents', 'words', 'judge'];

/** Libraries that are functions of their arguments too. */
const PURE_LIBRARIES = new Set(['get-east-asian-width']);

/** Where signals may leave from besides act/, and why. */
export const MAY_SIGNAL: Readonly<Record<string, string>> = {
  'observe/run-command.ts':
    'a command of ours that takes too long or is called off: our own child, and only if it has a pid',
  'tui/main.tsx': 'Ctrl-Z stops the own process group, as a shell expects',
};

/** What the language itself gives, the same at any time on any machine. */
const LANGUAGE = new Set(
  `undefined NaN Infinity Object Array String Number Boolean Symbol BigInt Map Set WeakMap WeakSet RegExp Error
  TypeError RangeError JSON Math Date Intl Promise Uint8Array Uint16Array Uint32Array Float64Array isNaN parseInt
  parseFloat encodeURIComponent decodeURIComponent URL structuredClone`.split(/\s+/),
);

/** Of these only the named members, so that none is handed on whole. */
const ONLY: Readonly<Record<string, (member: string, at: Node | undefined) => boolean>> = {
  Math: member => member !== 'random',
  Intl: member => member === 'Segmenter' || member === 'Collator',
  Date: member => member === 'parse' || member === 'UTC',
};

/** Ways around any rule: a name in a string, a module by another door. */
const BACK_DOORS = new Set([
  'eval',
  'Function',
  'globalThis',
  'global',
  'Reflect',
  'require',
  'module',
  'self',
]);

const nameOf = (node: Node): string | null =>
  node.type === 'Identifier'
    ? node.name
    : node.type === 'Literal' && typeof node.value === 'string'
      ? node.value
      : null;

/** The member taken of an object: `a.b`, `a['b']`; null when it is computed and cannot be told. */
const memberOf = (node: Node | undefined): string | null =>
  node?.type !== 'MemberExpression'
    ? null
    : node.computed && node.property.type !== 'Literal'
      ? null
      : nameOf(node.property as Node);

const impureUse = ({ name, around: [parent] }: GlobalUse): string | null => {
  if (!LANGUAGE.has(name)) return `uses ${name}`;
  const only = ONLY[name];
  if (only === undefined) return null;
  if (name === 'Date' && parent?.type === 'NewExpression')
    return parent.arguments.length > 0 ? null : 'reads the clock with new Date()';
  if (name === 'Date' && parent?.type === 'BinaryExpression') return null; // instanceof
  const member = memberOf(parent);
  if (member === null) return `hands on ${name}`;
  return only(member, parent) ? null : `uses ${name}.${member}`;
};

/** What a pure room takes from the world. */
export const impurities = (source: Source): readonly string[] => [
  ...globalUses(source.program).flatMap(use => impureUse(use) ?? []),
  ...source.imports
    .filter(what => !/\.tsx?$/.test(what) && !PURE_LIBRARIES.has(what))
    .map(what => `imports ${what}`),
  ...found(source.program, node => {
    if (node.type === 'MetaProperty') return 'uses import.meta';
    return memberOf(node) === 'constructor' ? 'reaches for a constructor' : null;
  }),
];

/** What `check` says of any node of the tree. */
const found = (node: Node, check: (node: Node) => string | null): string[] => {
  const own = check(node);
  return [
    ...(own === null ? [] : [own]),
    ...childrenOf(node).flatMap(([key, child]) => (key === 'typeAnnotation' ? [] : found(child, check))),
  ];
};

const KILLERS = /^(?:.*\/)?(?:kill|pkill|killall|skill|taskkill)$/;
const TMUX_KILLS = /^kill-(?:session|server|pane|window)$/;
const PROCESS = new Set(['process', 'node:process']);

const signalOf = (node: Node): string | null => {
  const member = memberOf(node);
  if (member === 'kill' || member === '_kill') return 'calls kill';
  if (member === 'binding') return 'uses process.binding';
  if (node.type === 'Literal' && typeof node.value === 'string' && TMUX_KILLS.test(node.value))
    return `says ${node.value}`;
  if (node.type === 'ObjectPattern')
    return node.properties.some(p => p.type === 'Property' && nameOf(p.key as Node) === 'kill')
      ? 'takes kill out of an object'
      : null;
  if (node.type === 'CallExpression') {
    const [first] = node.arguments;
    // Asked for by its name it is an import that waits until it is needed; by anything else, a back door.
    if (memberOf(node.callee) === 'getBuiltinModule')
      return first?.type === 'Literal' && !PROCESS.has(String(first.value))
        ? null
        : 'asks for a builtin module';
    return first?.type === 'Literal' && typeof first.value === 'string' && KILLERS.test(first.value)
      ? `runs ${first.value}`
      : null;
  }
  if (node.type !== 'ImportDeclaration') return null;
  const from = node.source.value;
  if (from === 'tree-kill') return 'imports tree-kill';
  if (!PROCESS.has(from)) return null;
  return node.specifiers.some(s => s.type !== 'ImportSpecifier' || nameOf(s.imported as Node) === 'kill')
    ? 'imports kill'
    : null;
};

/** How a file outside act/ could signal, or get at what signals by a back door. */
export const signals = (
  source: Source,
  excused: Readonly<Record<string, string>> = MAY_SIGNAL,
): readonly string[] => [
  ...(roomOf(source.file) === 'act' || excused[source.file] !== undefined
    ? []
    : found(source.program, signalOf)),
  ...source.hidden.map(what => `imports what ${what} says`),
  ...globalUses(source.program).flatMap(({ name, around: [parent] }) =>
    BACK_DOORS.has(name)
      ? `uses ${name}`
      : name === 'process' && parent?.type === 'MemberExpression' && memberOf(parent) === null
        ? 'takes a computed member of process'
        : [],
  ),
];
