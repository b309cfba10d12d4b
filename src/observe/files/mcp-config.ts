import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { asArray, asObject, type JsonObject, parseJson } from '../../model/json.ts';
import type { ConfiguredServer } from '../../model/observation.ts';
import { safeArgv } from '../../model/redact.ts';
import { visible } from '../../model/text.ts';
import { plural } from '../../model/units.ts';
import { readHead } from './read-bounded.ts';

export interface McpConfigRequest {
  readonly home: string;
  /** `~/.claude` and every `$CLAUDE_CONFIG_DIR` seen. */
  readonly configDirs: readonly string[];
  /** Project directories: the cwd of each agent. */
  readonly projects: readonly string[];
}

export interface McpConfig {
  readonly servers: readonly ConfiguredServer[];
  readonly warnings: readonly string[];
}

type Rank = ConfiguredServer['rank'];

/** `~/.claude.json` keeps the prompt history of every project: many megabytes, but never this many. */
const SIZE_LIMIT = { user: 16 * 1024 ** 2, project: 1024 ** 2 } as const satisfies Record<Rank, number>;

/** More than anybody has; a repository may hold any number, and every process is compared with them. */
const SERVERS_PER_FILE = 256;
const SERVERS_IN_ALL = 1024;
const PROJECTS = 64;
const ARGUMENTS = 256;
const WORD_LIMIT = 4096;

/** Most such files configure no server at all; finding that out this way saves parsing megabytes. */
const SOME_SERVER = /"mcpServers"\s*:\s*\{\s*"/;

/** Words as the process table would show them. `${VAR}` stays as written: the agent expands it, and we cannot. */
const toServer = (
  name: string,
  entry: JsonObject | null,
  source: string,
  rank: Rank,
): ConfiguredServer | null => {
  const command = entry?.command;
  if (typeof command !== 'string' || command.trim() === '') return null;
  if (entry?.type !== undefined && entry.type !== 'stdio') return null;
  const args = asArray(entry?.args).filter(arg => typeof arg === 'string' || typeof arg === 'number');
  // With fewer arguments than it has it would match another process.
  if (args.length > ARGUMENTS) return null;
  const words = [command, ...args.map(String)].map(word => word.slice(0, WORD_LIMIT));
  const [program = '', ...rest] = safeArgv(words);
  return { name: visible(name), command: program, args: rest, source, rank };
};

function* serversOf(holder: JsonObject | null, source: string, rank: Rank): Generator<ConfiguredServer> {
  const entries = asObject(holder?.mcpServers) ?? {};
  for (const name in entries) {
    const server = toServer(name, asObject(entries[name]), source, rank);
    if (server !== null) yield server;
  }
}

/**
 * The stdio servers of one configuration file: at its top level and, in `~/.claude.json`, per project.
 * Those rank as the user's own: `claude mcp add` wrote them on the user's command into the user's home,
 * where no repository can.
 */
export function* parseMcpConfig(
  text: string,
  source: string,
  rank: Rank = 'project',
): Generator<ConfiguredServer> {
  if (!SOME_SERVER.test(text)) return;
  const parsed = parseJson(text);
  const config = parsed.ok ? asObject(parsed.value) : null;
  yield* serversOf(config, source, rank);
  const projects = asObject(config?.projects) ?? {};
  for (const project in projects) yield* serversOf(asObject(projects[project]), source, rank);
}

interface Place {
  readonly path: string;
  readonly rank: Rank;
  /** The directory that the file speaks for. */
  readonly of: string;
}

const placesOf = ({ home, configDirs, projects }: McpConfigRequest): readonly Place[] => {
  const user = [
    join(home, '.claude.json'),
    ...configDirs.flatMap(dir => [join(dir, 'settings.json'), join(dir, '.claude.json')]),
  ].map((path): Place => ({ path, rank: 'user', of: dirname(path) }));
  const project = projects
    .slice(0, PROJECTS)
    .flatMap(dir =>
      [
        join(dir, '.mcp.json'),
        join(dir, '.claude', 'settings.json'),
        join(dir, '.claude', 'settings.local.json'),
      ].map((path): Place => ({ path, rank: 'project', of: dir })),
    );
  // An agent in $HOME makes the user's settings a project's as well: the first, stronger mention counts.
  return [...new Map([...user, ...project].reverse().map(place => [place.path, place])).values()].reverse();
};

/** Ours or root's: what another user wrote says nothing about our processes. */
const isTrusted = (owner: number): boolean => owner === 0 || owner === process.geteuid?.();

const isTrustedDirectory = (directory: string): boolean => {
  const stat = statSync(directory, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && (process.geteuid === undefined || isTrusted(stat.uid));
};

interface Known {
  readonly stamp: string;
  readonly servers: readonly ConfiguredServer[];
  readonly cut: boolean;
}

const NOTHING: Known = { stamp: '', servers: [], cut: false };

/** At most `limit` of them, and whether there were more. */
const take = <T>(items: Iterable<T>, limit: number): { readonly taken: T[]; readonly cut: boolean } => {
  const taken: T[] = [];
  for (const item of items) {
    if (taken.length === limit) return { taken, cut: true };
    taken.push(item);
  }
  return { taken, cut: false };
};

/** A reader that parses a file again only when its size or time of change did. */
export const createMcpConfigReader = (): ((request: McpConfigRequest) => McpConfig) => {
  let cache = new Map<string, Known>();

  const readOne = ({ path, rank, of }: Place): Known => {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined || !stat.isFile() || !isTrustedDirectory(of) || !isTrustedDirectory(dirname(path)))
      return NOTHING;
    const stamp = `${stat.mtimeMs}:${stat.size}:${stat.ino}:${stat.uid}`;
    const known = cache.get(path);
    if (known?.stamp === stamp) return known;
    if (stat.size > SIZE_LIMIT[rank]) return { stamp, servers: [], cut: true };
    const read = readHead(path, SIZE_LIMIT[rank]);
    if (read.ok && !isTrusted(read.owner)) return { ...NOTHING, stamp };
    // Half-written: what was configured a moment ago still runs.
    if (!read.ok || (known !== undefined && !parseJson(read.text).ok))
      return { ...(known ?? NOTHING), stamp };
    const { taken, cut } = take(parseMcpConfig(read.text, path, rank), SERVERS_PER_FILE);
    return { stamp, servers: taken, cut };
  };

  return request => {
    const found = new Map<string, Known>();
    for (const place of placesOf(request)) {
      try {
        found.set(place.path, readOne(place));
      } catch {
        // unreadable: that file configures nothing we know of
      }
    }
    // Projects come and go with their agents; their files must not pile up here.
    cache = found;
    const all = take(
      [...found.values()].flatMap(({ servers }) => servers),
      SERVERS_IN_ALL,
    );
    const cut = [...found].filter(([, known]) => known.cut).map(([path]) => visible(path));
    const bounded = cut.length > 0 || all.cut || request.projects.length > PROJECTS;
    return { servers: all.taken, warnings: bounded ? [boundsWarning(cut)] : [] };
  };
};

/** One for all bounds: which of them was hit matters less than where. */
const boundsWarning = (files: readonly string[]): string => {
  const [first, ...others] = files;
  const where =
    first === undefined
      ? 'all files together'
      : others.length === 0
        ? first
        : `${first} and ${plural(others.length, 'other file')}`;
  return `more MCP servers are configured than reaptop reads (${where}; at most ${SERVERS_PER_FILE} in a file, ${SERVERS_IN_ALL} in all): the others are known by their names only`;
};
