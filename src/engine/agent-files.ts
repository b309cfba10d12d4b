import { join, resolve } from 'node:path';
import type { Config } from '../model/config.ts';
import type { Reading } from '../model/heartbeat.ts';
import type { ClaudeSession } from '../model/observation.ts';
import type { CallReader } from '../observe/files/call-reader.ts';
import type { OrchestratorDatabases } from '../observe/files/orchestrator-database.ts';
import { transcriptReadings } from '../observe/files/transcripts.ts';
import { scanFiles } from '../observe/files/watched-directories.ts';
import { homeDirectory } from './load-config.ts';

export interface FileReadings {
  readonly readings: readonly Reading[];
  readonly warnings: readonly string[];
}

/** Where heartbeats, markers and registries come from: scanned once, or followed by a watcher. */
export interface AgentFiles {
  read(roots: readonly string[]): Promise<FileReadings>;
  close(): Promise<void>;
}

/** A snapshot waits for a database this long: without it an orchestrator's agents are unknown. */
const DATABASE_WAIT_MS = 1300;

/** Completes registries from databases; all that has to do with those is loaded when the first one is found. */
const withDatabases = (
  waitMs: number,
  onChange?: () => void,
): ((told: FileReadings) => Promise<FileReadings>) => {
  let databases: OrchestratorDatabases | null = null;
  return async told => {
    if (!told.readings.some(({ format }) => format === 'orchestrator-database')) return told;
    if (databases === null) {
      const loaded = await import('../observe/files/orchestrator-database.ts');
      databases = new loaded.OrchestratorDatabases(onChange);
    }
    return databases.complete(told, waitMs);
  };
};

/** For a single snapshot: no watcher is started. */
export const scannedFiles = (config: Config): AgentFiles => {
  const complete = withDatabases(DATABASE_WAIT_MS);
  return {
    read: roots => complete(scanFiles(roots, config.heartbeats)),
    close: async () => {},
  };
};

/** For the TUI: chokidar is loaded here and nowhere else. `onChange`: something on disk says something new. */
export const followedFiles = async (
  config: Config,
  options: { poll: boolean; onChange: () => void },
): Promise<AgentFiles> => {
  const { FileFollower } = await import('../observe/files/watch-files.ts');
  const follower = new FileFollower({ sources: config.heartbeats, ...options });
  // A screen never waits: it shows what is known and is notified when there is more.
  const complete = withDatabases(0, options.onChange);
  return {
    read: roots => {
      follower.setRoots(roots);
      return complete({ readings: follower.readings(), warnings: follower.warnings() });
    },
    close: () => follower.close(),
  };
};

export const NO_FILES: AgentFiles = {
  read: async () => ({ readings: [], warnings: [] }),
  close: async () => {},
};

/** `$HOME` and `/` are roots only when named: they hold everything. */
const tooWide = (directory: string, env: NodeJS.ProcessEnv): boolean =>
  directory === '/' || directory === homeDirectory(env);

/** `--root`, or: the cwd, the cwd of every agent, and the orchestrator's default workspaces. */
export const rootsFor = (
  named: readonly string[] | undefined,
  cwd: string,
  agentCwds: readonly string[],
  env: NodeJS.ProcessEnv,
): string[] => {
  if (named !== undefined) return named.map(root => resolve(cwd, root));
  const home = homeDirectory(env);
  const roots = [cwd, ...agentCwds].filter(root => !tooWide(root, env));
  return [
    ...new Set([...roots, ...(home === null ? [] : [join(home, '.claude-orchestrator', 'workspaces')])]),
  ];
};

/** Files below the roots, and the transcripts of running sessions: the cheapest sign of life, and what each waits for. */
export const readAgentFiles = async (
  files: AgentFiles,
  roots: readonly string[],
  sessions: readonly ClaudeSession[],
  calls: CallReader,
): Promise<FileReadings> => {
  const { readings, warnings } = await files.read(roots);
  return { readings: [...readings, ...transcriptReadings(sessions, calls)], warnings };
};
