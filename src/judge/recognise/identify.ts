import type { Family, Interpreter } from '../../agents/family-type.ts';
import { NOT_COMMANDED, NOT_MCP_SERVERS, READERS, SERVER_COMMANDS } from '../../agents/mcp.ts';
import { type Answer, answerOf, BLANK, carried, reachedBy } from './answer.ts';
import { declaresDaemon, holds } from './arguments.ts';
import { baseOf, packageName, packageOfPath, programName, withoutExtension, withoutVersion } from './argv.ts';
import type { ConfiguredServers } from './configured.ts';
import { bashToolCommand, carriedBy, type Layer, scriptOf, shellUse } from './layers.ts';
import {
  familyOfPlace,
  INTERPRETER_BY_PROGRAM,
  type MatchContext,
  matchFamily,
  READER_PROGRAMS,
  SHELL_PROGRAMS,
} from './match.ts';

/** sudo around env around npx around sh -c…: no command line is deeper than this. */
const MAX_DEPTH = 8;

export interface Scope extends MatchContext {
  readonly servers: ConfiguredServers | null;
  readonly depth: number;
}

const inside = (scope: Scope): Scope => ({
  exe: null,
  nameOnly: false,
  servers: scope.servers,
  depth: scope.depth + 1,
});

const shown = (layer: Layer): string =>
  layer.as === 'package'
    ? packageName(layer.token)
    : layer.as === 'module'
      ? `-m ${layer.token}`
      : baseOf(layer.token);

const wrapping = (family: Family, layer: Layer, scope: Scope): Answer => {
  const load = carriedBy(family.carries ?? { names: 'nothing' }, layer.words, layer.from);
  const inner = load.inner && identify(load.inner, inside(scope));
  const fetched =
    inner === null && load.fetched !== null
      ? identify(
          { token: load.fetched, as: 'package', words: layer.words, from: layer.words.length },
          inside(scope),
        )
      : null;
  const own = [family.name ?? programName(layer.token).replace(/-cli\.js$|\.c?js$/, ''), ...load.commands];
  return {
    ...BLANK,
    kind: 'wrapper',
    family: family.id,
    name: load.inner ? [...own, shown(load.inner)].join(' ') : own.join(' '),
    role: family.role ?? null,
    ...carried(inner ?? fetched),
  };
};

const shell = (layer: Layer, name: string, scope: Scope): Answer => {
  const use = shellUse(layer.words, layer.from);
  if (use.use === 'interactive') return { ...BLANK, kind: 'shell', family: 'shell', name };
  const inner = use.inner && identify(use.inner, inside(scope));
  if (use.use === 'script') {
    return inner ?? { ...BLANK, kind: 'shell', family: 'shell', name: `${name} ${shown(use.inner)}` };
  }
  const asked = bashToolCommand(use.text);
  if (asked !== null)
    // What it runs is seen below it; its text is only shown.
    return { ...BLANK, kind: 'wrapper', family: 'shell-command', role: 'bash-tool', name: `$ ${asked}` };
  return {
    ...BLANK,
    kind: 'wrapper',
    family: 'shell-command',
    name: `${name} -c`,
    ...carried(inner),
  };
};

/** The conventional names of servers, for those that no table knows. */
const byShape = (layer: Layer): Answer | null => {
  const { token, as } = layer;
  if (!token.includes('mcp') && !token.includes('@modelcontextprotocol/')) return null;
  const owner = as === 'script' ? packageOfPath(token) : null;
  const fits = {
    program: () => isServerProgram(programName(token)),
    script: () => isServerProgram(programName(token)) || (owner !== null && isServerPackage(owner)),
    package: () => isServerPackage(packageName(token)),
    module: () => isServerModule(token),
  }[as]();
  if (!fits) return null;
  const name = owner ?? (as === 'package' ? packageName(token) : programName(token));
  const role = declaresDaemon(layer.words, layer.from) ? 'declared-daemon' : null;
  return { ...BLANK, kind: 'mcp', family: 'mcp', known: 'shape', name, role, ...reachedBy(layer) };
};

/** `PROGRAM daemon start`, `PROGRAM --daemon`: meant to outlive what started it, by its own declaration. */
const byDeclaration = (layer: Layer): Answer | null =>
  declaresDaemon(layer.words, layer.from) && !READER_PROGRAMS.has(programName(layer.token))
    ? { ...BLANK, family: 'daemon', known: 'command', role: 'declared-daemon', name: shown(layer) }
    : null;

/** `PROGRAM mcp serve`: a program that may be anything says that it serves. */
const byCommand = (layer: Layer): Answer | null => {
  const { token, as, words, from } = layer;
  if (words[from] !== 'mcp' || as === 'module' || !isServerCommand(programName(token), words, from))
    return null;
  const name = `${as === 'package' ? packageName(token) : programName(token)} mcp`;
  return {
    ...BLANK,
    kind: 'mcp',
    family: 'mcp-subcommand',
    known: 'command',
    name,
    ...reachedBy({ words, from: from + 1 }),
  };
};

const byFamily = (family: Family, layer: Layer, scope: Scope): Answer => {
  if (family.carries) return wrapping(family, layer, scope);
  const form = scope.nameOnly
    ? undefined
    : family.forms?.find(({ when }) => holds(when, layer.words, layer.from, family.valueFlags));
  return answerOf(family, form, layer);
};

/** What the script says; else what a known place of the interpreter says; else just how to call it. */
const interpreted = (interpreter: Interpreter, layer: Layer, scope: Scope): Answer | null => {
  const script = scriptOf(interpreter, layer.words, layer.from);
  const answer = script && identify(script, inside(scope));
  if (answer) return answer;
  const place = familyOfPlace(layer, scope);
  // An interpreter inside an application (`Python.app`) is not that application.
  if (place && place.anchor === undefined) return byFamily(place, layer, scope);
  return script && { ...BLANK, name: `${interpreter.id} ${shown(script)}` };
};

/** What one layer of a command line is; null when nothing is known about it. */
export const identify = (layer: Layer, scope: Scope): Answer | null => {
  if (scope.depth > MAX_DEPTH) return null;
  const family = matchFamily(layer, scope);
  if (family) return byFamily(family, layer, scope);
  if (layer.as !== 'module') {
    const name = programName(layer.token);
    if (SHELL_PROGRAMS.has(name)) return shell(layer, name, scope);
    const interpreter = INTERPRETER_BY_PROGRAM.get(withoutVersion(name));
    if (interpreter) return interpreted(interpreter, layer, scope);
  }
  const place = familyOfPlace(layer, scope);
  if (place) return byFamily(place, layer, scope);
  return byShape(layer) ?? scope.servers?.find(layer) ?? byCommand(layer) ?? byDeclaration(layer);
};

const NOT_SERVERS: ReadonlySet<string> = new Set(NOT_MCP_SERVERS);

/** `mcp-server`, `mcp-server-git`, `x-mcp-server`, `x-mcp`: names that people give to servers and to little else. */
const isServerName = (name: string): boolean =>
  name === 'mcp-server' ||
  name.startsWith('mcp-server-') ||
  name.endsWith('-mcp-server') ||
  name.endsWith('-mcp');

/** A package or an installed program may also be `mcp-x`; a loose file of that name may be anything. */
const isInstalledServerName = (name: string): boolean =>
  isServerName(name) || (name.startsWith('mcp-') && name.length > 4 && !NOT_SERVERS.has(name));

/** The usual shape of a program's or script's basename. Snake case (`mcp_analysis.py`) is never enough. */
const isServerProgram = (base: string): boolean => {
  if (!base.includes('mcp')) return false;
  const stem = withoutExtension(base);
  return stem === base ? isInstalledServerName(base) : isServerName(stem);
};

/** The usual shape of a package name: `@scope/mcp`, `@modelcontextprotocol/server-x`, `mcp/fetch` (an image). */
const isServerPackage = (name: string): boolean => {
  const slash = name.lastIndexOf('/');
  if (slash < 0) return isServerProgram(name);
  const own = name.slice(slash + 1);
  if (name.startsWith('@modelcontextprotocol/')) return own.startsWith('server-') || isServerProgram(own);
  if (name.startsWith('mcp/')) return true;
  return (name.startsWith('@') && own === 'mcp') || isServerProgram(own);
};

/** `python -m mcp_server_git`: an installed module, named as servers are. */
const isServerModule = (module: string): boolean => {
  const top = module.split('.', 1)[0] ?? module;
  return top === 'mcp_server' || top.startsWith('mcp_server_') || top.endsWith('_mcp_server');
};

const NO_PROGRAMS_OF_SERVERS: ReadonlySet<string> = new Set([...READERS, ...NOT_COMMANDED]);

/** `PROGRAM mcp`, alone, with flags, or with a word that starts a server. `PROGRAM mcp list` ends by itself. */
const isServerCommand = (program: string, words: readonly string[], from: number): boolean => {
  const next = words[from + 1];
  return (
    words[from] === 'mcp' &&
    !NO_PROGRAMS_OF_SERVERS.has(program) &&
    (next === undefined || next.startsWith('-') || SERVER_COMMANDS.includes(next))
  );
};

const MENTION = /(?:^|[^a-z0-9])mcp(?:$|[^a-z0-9])/i;
const MAX_WORDS = 64;

/** Whether some word carries `mcp` as a segment. Texts (prompts, `-c` scripts) are not words. */
export const mentionsMcp = (words: readonly string[]): boolean => {
  const end = Math.min(words.length, MAX_WORDS);
  for (let at = 0; at < end; at += 1) {
    const word = words[at] as string;
    if (word.length < 3 || word.length > 512) continue;
    if (!word.includes('mcp') && !word.includes('MCP')) continue;
    if (!word.includes(' ') && MENTION.test(word)) return true;
  }
  return false;
};
