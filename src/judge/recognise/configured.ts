import type { ConfiguredServer } from '../../model/snapshot.ts';
import { type Answer, BLANK } from './answer.ts';
import { transportOf } from './arguments.ts';
import { carriedBy, type Layer, scriptOf, shellUse } from './layers.ts';
import { configuredNames, familyOf } from './match.ts';
import { INTERPRETER_BY_PROGRAM, SHELL_PROGRAMS } from './tables.ts';
import { isAssignment, programName, withoutVersion } from './words.ts';

export interface ConfiguredServers {
  find(layer: Layer): Answer | null;
}

/** What is left when runners, shells and interpreters are taken off; null when nothing is (a bare `node`). */
const core = (layer: Layer, depth = 0): Layer | null => {
  if (depth > 8) return null;
  const family = familyOf(layer);
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

/** `${VAR}` was expanded with the agent's environment, which we do not have: it stands for anything. */
const VARIABLE = /\$\{[^}]*\}/;

const sameWord = (word: string, arg: string): boolean => {
  if (word === arg) return true;
  if (!VARIABLE.test(arg)) return false;
  const parts = arg.split(VARIABLE);
  const last = parts.pop() as string;
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const found = index === 0 ? (word.startsWith(part) ? 0 : -1) : word.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return word.length - last.length >= at && word.endsWith(last);
};

const sameArguments = (layer: Layer, args: readonly string[]): boolean => {
  const { words, from } = layer;
  let end = words.length;
  // A rewritten title may run over into the environment: `npm exec x  HOME=/home/u`.
  while (end - from > args.length && isAssignment(words[end - 1] as string)) end -= 1;
  return end - from === args.length && args.every((arg, at) => sameWord(words[from + at] as string, arg));
};

/** Servers by the names their program may have; null when none is configured. */
export const indexServers = (servers: readonly ConfiguredServer[]): ConfiguredServers | null => {
  const byName = new Map<string, { args: readonly string[]; name: string }[]>();
  for (const server of servers) {
    const words = [server.command, ...server.args];
    const layer = core({ token: server.command, as: 'program', words, from: 1 });
    if (!layer) continue;
    const entry = { args: layer.words.slice(layer.from), name: server.name };
    for (const name of configuredNames(layer)) byName.set(name, [...(byName.get(name) ?? []), entry]);
  }
  if (byName.size === 0) return null;
  return {
    find: layer => {
      for (const name of configuredNames(layer)) {
        const entry = byName.get(name)?.find(({ args }) => sameArguments(layer, args));
        if (entry) {
          const transport = transportOf(layer.words, layer.from);
          return { ...BLANK, kind: 'mcp', family: 'configured', name: `mcp ${entry.name}`, transport };
        }
      }
      return null;
    },
  };
};
