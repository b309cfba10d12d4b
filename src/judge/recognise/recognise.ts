import type { UserRecogniser } from '../../model/config.ts';
import { starMatcher } from '../../model/glob.ts';
import type { Recognition } from '../../model/kind.ts';
import type { ConfiguredServer } from '../../model/observation.ts';
import { type Answer, BLANK, reachedBy, speaks } from './answer.ts';
import { argvWords, baseOf, programName, withoutVersion } from './argv.ts';
import { type ConfiguredServers, indexServers } from './configured.ts';
import { identify, mentionsMcp, type Scope } from './identify.ts';
import { type Layer, scriptOf, shellUse } from './layers.ts';
import { BY_COMM, INTERPRETER_BY_PROGRAM, READER_PROGRAMS, SHELL_PROGRAMS } from './match.ts';

/** What the user configured: own recognisers, and the MCP servers of their agents. */
export interface Knowledge {
  readonly recognisers: readonly UserRecogniser[];
  readonly servers: readonly ConfiguredServer[];
}

/** Knowledge turned into look-ups, once for many processes. */
export interface PreparedKnowledge {
  readonly users: UserRecognisers | null;
  readonly configured: ConfiguredServers | null;
}

export const prepareKnowledge = ({ recognisers, servers }: Knowledge): PreparedKnowledge => ({
  users: indexRecognisers(recognisers),
  configured: indexServers(servers),
});

/** The built-in families alone. */
const NO_KNOWLEDGE: PreparedKnowledge = { users: null, configured: null };

/** The words of a process that say what it is. */
export interface Command {
  readonly comm: string;
  readonly argv: readonly string[] | null;
  readonly exe: string | null;
}

const MAX_NAME = 80;
const NO_SESSIONS: readonly string[] = [];
const DELETED = ' (deleted)';
/** A native claude's file is named by its version, and a zombie has no other name left. */
const VERSION_NAME = /^\d+\.\d+\.\d+$/;

/** Kernel names that decide by themselves, whatever argv says (`tmux: server`, `Relay(41)`). */
const byKernelName = (comm: string, layer: Layer): Answer | null => {
  const open = comm.indexOf('(');
  const family = BY_COMM.get(comm)?.[0] ?? (open > 0 ? BY_COMM.get(comm.slice(0, open + 1))?.[0] : undefined);
  if (!family) return null;
  const { id, kind, name = baseOf(layer.token), role = null, anchor = null, adoptsOrphans = false } = family;
  return { ...BLANK, kind, family: id, known: 'list', name, role, anchor, adoptsOrphans };
};

const byUser = (found: UserRecogniser, built: Answer | null, layer: Layer): Answer => ({
  ...(built ?? BLANK),
  kind: found.kind,
  agent: found.kind === 'agent' ? (found.agent ?? found.name) : null,
  family: found.name,
  known: 'user',
  name: found.name,
  role: built?.kind === found.kind ? built.role : null,
  ...(speaks(found.kind) ? reachedBy(layer) : { transport: null, saysStdio: false }),
});

/** argv[0] first, because titles are rewritten there; then the executable, when it goes by another name. */
const builtIn = (layer: Layer, scope: Scope, title: boolean): Answer | null => {
  const said = identify(layer, scope);
  if (said !== null && said.family !== null) return said;
  const { exe } = scope;
  if (exe === null || exe === layer.token || programName(exe) === programName(layer.token)) return said;
  // The words of a title are no arguments: an interpreter behind it has no script left to read.
  const words = title ? [layer.token] : layer.words;
  const meant = identify({ token: exe, as: 'program', words, from: 1 }, scope);
  return meant === null || meant.family === null || meant.kind === 'shell' ? said : meant;
};

/** Spelled out, not spread: most processes end here, and a literal is several times faster. */
const unknown = (name: string, mentions: boolean): Recognition => ({
  kind: 'other',
  agent: null,
  family: null,
  known: null,
  name,
  role: null,
  wraps: null,
  transport: null,
  saysStdio: false,
  sessionIds: NO_SESSIONS,
  forkedFrom: NO_SESSIONS,
  anchor: null,
  adoptsOrphans: false,
  mentionsMcp: mentions,
});

/**
 * What a process's own words say it is. Matches the executable, argv[0] and the script an interpreter runs,
 * one token at a time: `vim CLAUDE.md` and a user called claude are not agents.
 */
export const recognise = (p: Command, knowledge: PreparedKnowledge = NO_KNOWLEDGE): Recognition => {
  const argv = p.argv !== null && p.argv.length > 0 && p.argv[0] !== '' ? p.argv : null;
  const words = argvWords(argv ?? [p.comm]);
  const token = words[0] ?? p.comm;
  const layer: Layer = { token, as: 'program', words, from: 1 };
  const exe = p.exe?.endsWith(DELETED) ? p.exe.slice(0, -DELETED.length) : p.exe;
  const scope: Scope = {
    exe,
    nameOnly: (argv === null && words.length <= 1) || words[1] === '<defunct>',
    servers: knowledge.configured,
    depth: 0,
  };
  const built = byKernelName(p.comm || token, layer) ?? builtIn(layer, scope, argv !== words);
  const user = knowledge.users?.find(layer, exe) ?? null;
  const answer = user ? byUser(user, built, layer) : built;
  const plain = argv === null ? p.comm : programName(token);
  const name = (answer?.name || plain || p.comm).slice(0, MAX_NAME);
  const reads = (answer === null || answer.kind === 'other') && READER_PROGRAMS.has(programName(token));
  const mentions = !reads && mentionsMcp(words);
  if (answer) return { ...answer, name, mentionsMcp: mentions };
  if (argv === null && VERSION_NAME.test(p.comm)) {
    const claude = {
      kind: 'agent',
      agent: 'claude',
      family: 'claude',
      known: 'list',
      name: 'claude',
    } as const;
    return { ...BLANK, ...claude, mentionsMcp: false };
  }
  return unknown(name, mentions);
};

export interface UserRecognisers {
  find(layer: Layer, exe: string | null): UserRecogniser | null;
}

const scriptIn = (layer: Layer): string | null => {
  const name = programName(layer.token);
  const interpreter = INTERPRETER_BY_PROGRAM.get(withoutVersion(name));
  if (interpreter) return scriptOf(interpreter, layer.words, layer.from)?.token ?? null;
  if (!SHELL_PROGRAMS.has(name)) return null;
  const use = shellUse(layer.words, layer.from);
  return use.use === 'script' ? use.inner.token : null;
};

/** A user's own recognisers, in the order of the config; null when there is none. */
const indexRecognisers = (recognisers: readonly UserRecogniser[]): UserRecognisers | null => {
  if (recognisers.length === 0) return null;
  const tests = recognisers.map(recogniser => ({ recogniser, fits: starMatcher(recogniser.program) }));
  return {
    find: (layer, exe) => {
      const names = new Set([baseOf(layer.token), programName(layer.token)]);
      if (exe !== null) names.add(baseOf(exe)).add(programName(exe));
      const script = scriptIn(layer);
      if (script !== null) names.add(baseOf(script)).add(script);
      for (const { recogniser, fits } of tests) {
        const words = recogniser.args ?? [];
        if (![...names].some(fits)) continue;
        if (words.every(word => layer.words.includes(word, layer.from))) return recogniser;
      }
      return null;
    },
  };
};
