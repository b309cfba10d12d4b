import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockHolder } from '../act/record/lock.ts';
import { NO_FILES, rootsFor } from '../collect/agent-files.ts';
import { readClaudeRecords } from '../collect/claude-records.ts';
import { homeDirectory, loadConfig, userConfigPath } from '../collect/config.ts';
import { type Flags, type Prepared, prepareWith } from '../collect/prepare.ts';
import { readHeld } from '../guard/held-file.ts';
import { type Config, DEFAULT_CONFIG } from '../model/config.ts';
import type {
  ConfigFacts,
  GuardFacts,
  HealthFacts,
  LeanServer,
  LookFacts,
  RecorderFacts,
  TmuxFacts,
} from '../model/health.ts';
import { isZombie } from '../model/process.ts';
import type { JudgedProcess, Snapshot } from '../model/snapshot.ts';
import { visible } from '../model/text.ts';
import { readHead } from '../observe/files/read-bounded.ts';
import { leanProjectOf, leanProjectsOf, leanServerVersion } from '../observe/health/lean.ts';
import { readPressure } from '../observe/health/pressure.ts';
import { readProcMount } from '../observe/health/proc-mount.ts';
import { stateFacts } from '../observe/health/state-facts.ts';
import { readRefreshTimers } from '../observe/health/timers.ts';
import { readWatching } from '../observe/health/watching.ts';
import { readUnixSockets } from '../observe/procfs/unix-sockets.ts';
import { runCommand } from '../observe/run-command.ts';
import { stateDirectory } from '../observe/state/state-directory.ts';
import type { System } from '../observe/system.ts';
import { isFresh, readLatest } from '../remember/latest.ts';
import { RECORDER_DIRECTORY, segmentFiles } from '../remember/recorder/segments.ts';
import { hookFacts } from './hook/installed.ts';

const sentence = (error: unknown): string => visible(error instanceof Error ? error.message : String(error));

/** The config as every command would load it; a wrong one is a finding here, and the defaults hold meanwhile. */
const gatherConfig = async (
  flags: Flags,
  env: NodeJS.ProcessEnv,
): Promise<{ config: Config; facts: Omit<ConfigFacts, 'ignored'> }> => {
  const path = flags.config ?? userConfigPath(env);
  const there = path === null ? null : readHead(path, 1);
  const told = {
    path: path === null ? null : visible(path),
    present: there !== null && (there.ok || !there.gone),
  };
  try {
    return { config: await loadConfig(env, flags.config), facts: { ...told, wrong: null } };
  } catch (error) {
    return { config: DEFAULT_CONFIG, facts: { ...told, wrong: sentence(error) } };
  }
};

type Looked =
  | { readonly moment: Snapshot; readonly why: null }
  | { readonly moment: null; readonly why: string };

const lookOnce = async ({ collectorWith }: Prepared): Promise<Looked> => {
  try {
    return { moment: await collectorWith(NO_FILES).collect({ all: true }), why: null };
  } catch (error) {
    return { moment: null, why: sentence(error) };
  }
};

const lookFacts = ({ moment, why }: Looked): LookFacts => {
  if (moment === null) return { ok: false, why };
  const uid = moment.self?.uid;
  const running = moment.processes.filter(p => !isZombie(p.facts));
  return {
    ok: true,
    processes: moment.totals.processes,
    agents: moment.totals.agents,
    // Only related ones are looked into; elsewhere than on Linux nobody's cwd is told.
    closed: running
      .filter(p => moment.host.backend === 'procfs' && p.related && p.facts.uid === uid)
      .filter(p => p.facts.details !== null && p.facts.details.cwd === null)
      .map(p => p.facts.pid),
    hidden: running.filter(p => p.facts.uid !== uid && !p.facts.kernelThread).length,
  };
};

const TMUX_PATIENCE_MS = 2000;

const tmuxFacts = async (moment: Snapshot | null, env: NodeJS.ProcessEnv): Promise<TmuxFacts> => {
  const asked = await runCommand('tmux', ['-V'], { timeoutMs: TMUX_PATIENCE_MS, env });
  const servers = moment?.tmux ?? [];
  return {
    version:
      asked.status === 'missing'
        ? null
        : asked.status === 'done' && asked.code === 0
          ? visible(asked.stdout.trim()).slice(0, 40)
          : 'tmux of an unknown version',
    answered: servers.filter(server => server.reachable).length,
    // A server that does not answer may be known twice: by its socket, and by its process.
    silent: [
      ...new Set(
        servers
          .filter(server => !server.reachable)
          .map(({ socket, pid }) => (socket === '' ? `server ${pid}` : visible(socket))),
      ),
    ],
  };
};

const cwdOf = (p: JudgedProcess): string | null => p.facts.details?.cwd ?? null;

/** Servers that run, each with its project; and the one that `uv tool` keeps, which the next agent will run. */
const leanServers = (
  processes: readonly JudgedProcess[],
  env: NodeJS.ProcessEnv,
  home: string | null,
): readonly LeanServer[] => {
  const servers = processes.filter(p => p.kind === 'lean-lsp' && !isZombie(p.facts));
  const pids = new Set(servers.map(p => p.facts.pid));
  const running = servers
    .filter(p => !pids.has(p.facts.ppid ?? -1))
    .map(p => {
      const serves = processes.find(child => child.facts.ppid === p.facts.pid && child.kind === 'lake');
      const directory = p.facts.env?.LEAN_PROJECT_PATH ?? (serves && cwdOf(serves)) ?? cwdOf(p);
      return {
        where: `pid ${p.facts.pid}`,
        version: leanServerVersion(p.facts.argv ?? []),
        project: directory === null ? null : (leanProjectOf(directory)?.path ?? null),
      };
    });
  const data = env.XDG_DATA_HOME || (home === null ? null : join(home, '.local', 'share'));
  const tools = env.UV_TOOL_DIR || (data === null ? null : join(data, 'uv', 'tools'));
  const installed = tools === null ? null : join(tools, 'lean-lsp-mcp', 'bin', 'lean-lsp-mcp');
  const version = installed === null ? null : leanServerVersion([installed]);
  return version === null ? running : [...running, { where: visible(installed!), version, project: null }];
};

const guardFacts = async (system: System, directory: string | null, now: number): Promise<GuardFacts> => {
  const holder = await lockHolder(system, 'guard', directory).catch(() => null);
  const latest = readLatest(directory);
  return {
    running: holder === null ? null : { pid: holder.pid, since: holder.since },
    held: readHeld(directory)?.why ?? null,
    lookAge: latest === null ? null : (now - latest.takenAt) / 1000,
    fresh: latest !== null && isFresh(latest, now),
  };
};

const recorderFacts = (directory: string | null, now: number): RecorderFacts => {
  const files = directory === null ? [] : segmentFiles(join(directory, RECORDER_DIRECTORY));
  const stats = files.flatMap(({ path }) => statSync(path, { throwIfNoEntry: false }) ?? []);
  const last = Math.max(0, ...stats.map(({ mtimeMs }) => mtimeMs));
  return {
    segments: new Set(files.map(({ hour }) => hour)).size,
    bytes: stats.reduce((sum, { size }) => sum + size, 0),
    age: stats.length === 0 ? null : (now - last) / 1000,
  };
};

/** Looks at everything once. Nothing here throws for what it finds: a look that fails is a fact, too. */
export const gatherHealth = async (
  flags: Flags,
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<HealthFacts> => {
  const { config, facts } = await gatherConfig(flags, env);
  const prepared = await prepareWith(config, flags, env, cwd);
  const looked = await lookOnce(prepared);
  const processes = looked.moment?.processes ?? [];
  const home = homeDirectory(env);
  const related = processes.filter(p => p.related).flatMap(p => cwdOf(p) ?? []);
  const roots = rootsFor(flags.root, cwd, related, env);
  const userConfig = env.XDG_CONFIG_HOME || (home === null ? null : join(home, '.config'));
  const now = Date.now();
  const claude = env.CLAUDE_CONFIG_DIR || (home === null ? null : join(home, '.claude'));
  return {
    proc: readProcMount(process.platform),
    look: lookFacts(looked),
    tmux: await tmuxFacts(looked.moment, env),
    unixSockets: process.platform === 'linux' ? (await readUnixSockets()) !== null : null,
    watch: await readWatching(tmpdir()),
    state: stateFacts(env),
    config: { ...facts, ignored: prepared.warnings },
    pressure: readPressure(looked.moment?.host ?? { memTotal: null, memAvailable: null, swapUsed: null }),
    leanProjects: leanProjectsOf(roots),
    leanServers: leanServers(processes, env, home),
    timers: userConfig === null ? [] : readRefreshTimers(userConfig),
    hooks: hookFacts(config.hooks, env, cwd),
    guard: await guardFacts(prepared.system, stateDirectory(env), now),
    recorder: recorderFacts(stateDirectory(env), now),
    strangeFiles: claude === null ? [] : readClaudeRecords([claude]).strange.map(file => visible(file.path)),
  };
};
