import type { ConfiguredServer } from '../../model/observation.ts';
import { type Answer, BLANK, reachedBy } from './answer.ts';
import { argvWords, isAssignment, programName, withoutVersion } from './argv.ts';
import { carriedBy, type Layer, scriptOf, shellUse } from './layers.ts';
import { configuredNames, INTERPRETER_BY_PROGRAM, matchFamily, SHELL_PROGRAMS } from './match.ts';

export interface ConfiguredServers {
  find(layer: Layer): Answer | null;
  /** Every name by which a server with these words is configured. */
  namesOf(words: readonly string[]): readonly string[];
}

/** What is left when runners, shells and interpreters are taken off; null when nothing is (a bare `node`). */
const core = (layer: Layer, depth = 0): Layer | null => {
  if (depth > 8) return null;
  const family = matchFamily(layer);
  if (family?.carries) {
    const { inner } = carriedBy(family.carries, layer.words, layer.from);
    return inner && core(inner, depth + 1);
  }
  if (layer.as === 'module') return layer;
  const name = programName(layer.token);
  if (SHELL_PROGRAMS.has(name)) {
    const use = shellUse(layer.words, layer.from);
    return use.use === 'interactive' || use.inner === null ? null : core(use.inner, depth + 1);
  }
  const interpreter = INTERPRETER_BY_PROGRAM.get(withoutVersion(name));
  if (!interpreter) return layer;
  const script = scriptOf(interpreter, layer.words, layer.from);
  return script && core(script, depth + 1);
};

interface Entry {
  readonly args: readonly ArgumentPattern[];
  readonly name: string;
  readonly rank: ConfiguredServer['rank'];
}

/** A package, a module or a script with its directory is a name of its own; `sleep` or `index.js` is anybody's. */
const namesItself = ({ token, as }: Layer): boolean =>
  as === 'package' || as === 'module' || (as === 'script' && token.includes('/'));

/** A variable stands for anything, so it cannot tell a server from another use of the same program. */
const isDecidedByVariables = (layer: Layer, args: readonly ArgumentPattern[]): boolean =>
  args.some(arg => !isLiteral(arg)) && args.every(arg => isOnlyVariable(arg)) && !namesItself(layer);

const sameArguments = (layer: Layer, args: readonly ArgumentPattern[]): boolean => {
  const { words, from } = layer;
  let end = words.length;
  // A rewritten title may run over into the environment: `npm exec x  HOME=/home/u`.
  while (end - from > args.length && isAssignment(words[end - 1] as string)) end -= 1;
  return end - from === args.length && args.every((arg, at) => fits(words[from + at] as string, arg));
};

/** The user's own words first: they say more than a directory's. */
const byRank = (a: ConfiguredServer, b: ConfiguredServer): number =>
  Number(a.rank === 'project') - Number(b.rank === 'project');

/** Servers by the names their program may have; null when none is configured. */
export const indexServers = (servers: readonly ConfiguredServer[]): ConfiguredServers | null => {
  const byName = new Map<string, Entry[]>();
  for (const server of [...servers].sort(byRank)) {
    const words = [server.command, ...server.args];
    const layer = core({ token: server.command, as: 'program', words, from: 1 });
    if (!layer) continue;
    const args = layer.words.slice(layer.from).map(patternOf);
    if (isDecidedByVariables(layer, args)) continue;
    const entry = { args, name: server.name, rank: server.rank };
    for (const name of configuredNames(layer)) {
      const entries = byName.get(name);
      if (entries) entries.push(entry);
      else byName.set(name, [entry]);
    }
  }
  if (byName.size === 0) return null;
  return {
    namesOf: argv => {
      const words = argvWords(argv);
      const layer = core({ token: words[0] ?? '', as: 'program', words, from: 1 });
      if (layer === null) return [];
      const entries = [...configuredNames(layer)].flatMap(name => byName.get(name) ?? []);
      return entries.filter(({ args }) => sameArguments(layer, args)).map(({ name }) => name);
    },
    find: layer => {
      for (const name of configuredNames(layer)) {
        const entry = byName.get(name)?.find(({ args }) => sameArguments(layer, args));
        if (entry) {
          const told = { known: entry.rank, name: `mcp ${entry.name}` } as const;
          return { ...BLANK, kind: 'mcp', family: 'configured', ...told, ...reachedBy(layer) };
        }
      }
      return null;
    },
  };
};

/** `${VAR}` was expanded with the agent's environment, which we do not have. */
const VARIABLE = /\$\{[^{}]*\}/;

/** One argument of a configured server: literal pieces, with a variable between each two of them. */
export type ArgumentPattern = readonly string[];

const patternOf = (arg: string): ArgumentPattern => arg.split(VARIABLE);

const isLiteral = (pattern: ArgumentPattern): boolean => pattern.length === 1;

/** Says nothing but that there is an argument. */
const isOnlyVariable = (pattern: ArgumentPattern): boolean =>
  !isLiteral(pattern) && pattern.every(piece => piece === '');

/** Whether a word is this argument, each variable standing for at least one character of it. Linear in the word. */
const fits = (word: string, pattern: ArgumentPattern): boolean => {
  const [first = '', ...rest] = pattern;
  const last = rest.pop();
  if (last === undefined) return word === first;
  if (!word.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = word.indexOf(piece, at + 1);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return word.endsWith(last) && word.length - last.length > at;
};
