import { statSync } from 'node:fs';
import { join } from 'node:path';
import { safeArgv } from '../../model/redact.ts';
import type { ConfiguredServer } from '../../model/snapshot.ts';
import { visible } from '../../model/text.ts';
import { asArray, asObject, type JsonObject, parseJson } from './json-fields.ts';
import { readHead } from './read-bounded.ts';

export interface McpConfigRequest {
  readonly home: string;
  /** `~/.claude` and every `$CLAUDE_CONFIG_DIR` seen. */
  readonly configDirs: readonly string[];
  /** Project directories: the cwd of each agent. */
  readonly projects: readonly string[];
}

// ~/.claude.json keeps the prompt history of every project: many megabytes, but never this many.
const SIZE_LIMIT = 16 * 1024 ** 2;

/** Most such files configure no server at all; finding that out this way saves parsing megabytes. */
const SOME_SERVER = /"mcpServers"\s*:\s*\{\s*"/;

const WORD_LIMIT = 4096;

/**
 * Words as the process table would show them. `${VAR}` stays as written: it is expanded with the
 * agent's environment, which we do not have, so a matcher must let it stand for anything.
 */
const toServer = (name: string, entry: JsonObject | null, source: string): ConfiguredServer | null => {
  const command = entry?.command;
  if (typeof command !== 'string' || command.trim() === '') return null;
  if (entry?.type !== undefined && entry.type !== 'stdio') return null;
  const args = asArray(entry?.args).filter(arg => typeof arg === 'string' || typeof arg === 'number');
  const words = [command, ...args.map(String)].map(word => word.slice(0, WORD_LIMIT));
  const [program = '', ...rest] = safeArgv(words);
  return { name: visible(name), command: program, args: rest, source };
};

const serversOf = (holder: JsonObject | null, source: string): ConfiguredServer[] =>
  Object.entries(asObject(holder?.mcpServers) ?? {}).flatMap(([name, entry]) => {
    const server = toServer(name, asObject(entry), source);
    return server === null ? [] : [server];
  });

/** The stdio servers of one configuration file: at its top level and, in `~/.claude.json`, per project. */
export const parseMcpConfig = (text: string, source: string): ConfiguredServer[] => {
  if (!SOME_SERVER.test(text)) return [];
  const parsed = parseJson(text);
  const config = parsed.ok ? asObject(parsed.value) : null;
  const projects = Object.values(asObject(config?.projects) ?? {});
  return [...serversOf(config, source), ...projects.flatMap(project => serversOf(asObject(project), source))];
};

export const mcpConfigPaths = (request: McpConfigRequest): string[] => [
  ...new Set([
    join(request.home, '.claude.json'),
    ...request.configDirs.flatMap(dir => [join(dir, 'settings.json'), join(dir, '.claude.json')]),
    ...request.projects.flatMap(dir => [
      join(dir, '.mcp.json'),
      join(dir, '.claude', 'settings.json'),
      join(dir, '.claude', 'settings.local.json'),
    ]),
  ]),
];

/** A reader that parses a file again only when its size or time of change did. */
export const createMcpConfigReader = (): ((request: McpConfigRequest) => ConfiguredServer[]) => {
  let cache = new Map<string, { stamp: string; servers: ConfiguredServer[] }>();

  const readOne = (path: string): ConfiguredServer[] => {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined || stat.size > SIZE_LIMIT) return [];
    const stamp = `${stat.mtimeMs}:${stat.size}:${stat.ino}`;
    const known = cache.get(path);
    if (known?.stamp === stamp) return known.servers;
    const read = readHead(path, SIZE_LIMIT);
    // Half-written: what was configured a moment ago still runs.
    const unusable = !read.ok || (known !== undefined && !parseJson(read.text).ok);
    const servers = unusable ? (known?.servers ?? []) : parseMcpConfig(read.text, path);
    cache.set(path, { stamp, servers });
    return servers;
  };

  return request => {
    const paths = mcpConfigPaths(request);
    const servers = paths.flatMap(path => {
      try {
        return readOne(path);
      } catch {
        return []; // unreadable: that file configures nothing we know of
      }
    });
    // Projects come and go with their agents; their files must not pile up here.
    const current = new Set(paths);
    cache = new Map([...cache].filter(([path]) => current.has(path)));
    return servers;
  };
};
