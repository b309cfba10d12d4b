import { statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockHolder } from '../act/record/run-lock.ts';
import { NO_FILES, rootsFor } from '../engine/agent-files.ts';
import { readClaudeRecords } from '../engine/collector.ts';
import { homeDirectory, loadConfig, UsageError, userConfigPath } from '../engine/load-config.ts';
import { type Flags, type Prepared, prepareWith } from '../engine/prepare.ts';
import { readHeld } from '../guard/hold.ts';
import { pluginFacts } from '../hooks/plugin.ts';
import { hookFacts } from '../hooks/status.ts';
import { checkHealth, type NamedCheck } from '../judge/health/checks.ts';
import type { Config } from '../model/config.ts';
import { DEFAULT_CONFIG } from '../model/config-defaults.ts';
import { atLeast, type Severity } from '../model/finding.ts';
import type {
  ConfigFacts,
  GuardFacts,
  HealthFacts,
  LeanServer,
  Level,
  LookFacts,
  MacFacts,
  RecorderFacts,
  TmuxFacts,
} from '../model/health.ts';
import { isZombie } from '../model/process.ts';
import type { JudgedProcess, Snapshot } from '../model/snapshot.ts';
import { visible, wrap } from '../model/text.ts';
import { plural } from '../model/units.ts';
import { readHead } from '../observe/files/read-bounded.ts';
import {
  leanProjectOf,
  leanProjectsOf,
  leanServerVersion,
  readPressure,
  readProcMount,
  readRefreshTimers,
  readWatching,
  stateFacts,
} from '../observe/health.ts';
import { readUnixSockets } from '../observe/procfs/sockets.ts';
import { runCommand } from '../observe/run-command.ts';
import { stateDirectory } from '../observe/state/state-directory.ts';
import type { System } from '../observe/system.ts';
import { EXIT_FAIL_ON, type PaintTone, painter } from '../output.ts';
import { isFresh, readLatest } from '../remember/latest.ts';
import { RECORDER_DIRECTORY, segmentFiles } from '../remember/recorder/segments.ts';

export interface DoctorOptions {
  readonly json: boolean;
  /** Write what a Mac's tools answer to a file instead. */
  readonly bundle: boolean;
  readonly failOn: Severity | null;
  readonly width: number;
  readonly color: boolean;
}

const TONE: Readonly<Record<Level, PaintTone>> = { ok: 'good', warn: 'warn', fail: 'bad' };

/** What `--fail-on` compares with; what is well is no finding. */
const SEVERITY: Readonly<Record<Level, Severity | null>> = { ok: null, warn: 'warn', fail: 'critical' };

/** What works here and what does not, one line per check, with what to do about it. */
export const doctor = async (
  flags: Flags,
  { json, bundle, failOn, width, color }: DoctorOptions,
  { env, cwd, out }: { env: NodeJS.ProcessEnv; cwd: string; out: { write(text: string): void } },
): Promise<number> => {
  if (bundle) {
    const path = await writeBundle(flags, env, cwd);
    out.write(`Wrote ${visible(path)}: look through it, then attach it to an issue.\n`);
    return 0;
  }
  const checks = checkHealth(await gatherHealth(flags, env, cwd));
  out.write(
    json
      ? `${JSON.stringify({ schema: 1, takenAt: new Date().toISOString(), checks }, null, 2)}\n`
      : doctorText(checks, width, color),
  );
  const met = checks.some(({ level }) => {
    const severity = SEVERITY[level];
    return failOn !== null && severity !== null && atLeast(severity, failOn);
  });
  return met ? EXIT_FAIL_ON : 0;
};

const INDENT = '     ';

export const doctorText = (checks: readonly NamedCheck[], width: number, color: boolean): string => {
  const paint = painter(color);
  const lines = checks.flatMap(({ id, level, says, todo }) => {
    const [first = '', ...rest] = wrap(`${level.padEnd(4)} ${id}: ${says}`, width, INDENT);
    return [
      `${paint(first.slice(0, 4), TONE[level])}${first.slice(4)}`,
      ...rest,
      ...(todo === null ? [] : wrap(`${INDENT}→ ${todo}`, width, `${INDENT}  `)),
    ];
  });
  const count = (level: Level): number => checks.filter(check => check.level === level).length;
  const closing = `${count('ok')} ok, ${plural(count('warn'), 'warning')}, ${count('fail')} failed`;
  return `${[...lines, closing].join('\n')}\n`;
};

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
    // Only related ones are looked into; outside Linux no cwd is known.
    closed: running
      .filter(p => moment.host.backend === 'procfs' && p.related && p.facts.uid === uid)
      .filter(p => p.facts.details !== null && p.facts.details.cwd === null)
      .map(p => p.facts.pid),
    hidden: running.filter(p => p.facts.uid !== uid && !p.facts.kernelThread).length,
  };
};

const macFacts = (moment: Snapshot | null): MacFacts | null => {
  if (moment === null || moment.host.backend !== 'darwin') return null;
  const own = moment.processes.filter(
    p => p.related && p.facts.uid === moment.self?.uid && !isZombie(p.facts),
  );
  const known = (is: (p: JudgedProcess) => boolean): number => own.filter(is).length;
  return {
    processes: own.length,
    files: known(p => cwdOf(p) !== null),
    jobs: known(p => (p.facts.details?.cgroup ?? null) !== null),
    environments: known(p => p.facts.env !== null),
    boot: moment.host.bootId !== null,
  };
};

/** Writes what this Mac's tools answer into a file that can be attached to an issue, and says where it is. */
const writeBundle = async (flags: Flags, env: NodeJS.ProcessEnv, cwd: string): Promise<string> => {
  const prepared = await prepareWith((await gatherConfig(flags, env)).config, flags, env, cwd);
  if (prepared.system.backend !== 'darwin')
    throw new UsageError('doctor --bundle records what macOS tools print; this is not a Mac.');
  const { moment, why } = await lookOnce(prepared);
  if (moment === null) throw new Error(why);
  const { makeBundle } = await import('../observe/darwin/bundle.ts');
  const related = moment.processes.filter(p => p.related).map(p => [p.facts.pid, p.facts.env] as const);
  const path = join(cwd, `reaptop-mac-${new Date().toISOString().slice(0, 19).replace(/[-:]/g, '')}.json`);
  writeFileSync(path, `${JSON.stringify(await makeBundle(new Map(related)))}\n`, { mode: 0o600, flag: 'wx' });
  return path;
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
const gatherHealth = async (flags: Flags, env: NodeJS.ProcessEnv, cwd: string): Promise<HealthFacts> => {
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
    mac: macFacts(looked.moment),
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
    plugin: pluginFacts(config.hooks, env, process.argv[1] ?? 'reaptop'),
    guard: await guardFacts(prepared.system, stateDirectory(env), now),
    recorder: recorderFacts(stateDirectory(env), now),
    strangeFiles: claude === null ? [] : readClaudeRecords([claude]).strange.map(file => visible(file.path)),
  };
};
