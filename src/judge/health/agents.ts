import { type HealthCheck, ok, warning } from '../../model/health.ts';
import { plural } from '../../model/units.ts';

const LISTED = 3;

const listed = (items: readonly string[]): string =>
  items.length <= LISTED
    ? items.join(', ')
    : `${items.slice(0, LISTED).join(', ')} and ${items.length - LISTED} more`;

/** `v4.25.0-rc1`, `leanprover/lean4:v4.9.0`, `0.11.2`; null for nightlies and the like. */
export const versionIn = (text: string): readonly [number, number] | null => {
  const match = /(?:^|[:v/])v?(\d{1,4})\.(\d{1,4})(?:\.|$|-)/.exec(text);
  return match === null ? null : [Number(match[1]), Number(match[2])];
};

const olderThan = (text: string, [major, minor]: readonly [number, number]): boolean => {
  const version = versionIn(text);
  return version !== null && (version[0] < major || (version[0] === major && version[1] < minor));
};

/** Between 4.24 and 4.26 the language server stopped hanging when a worker dies (lean-lsp-mcp's issue 115). */
const LEAN_THAT_ANSWERS = [4, 26] as const;

export const leanToolchain: HealthCheck = ({ leanProjects }) => {
  if (leanProjects.length === 0) return ok('no Lean project below the roots');
  const old = leanProjects.filter(({ toolchain }) => olderThan(toolchain, LEAN_THAT_ANSWERS));
  return old.length === 0
    ? ok(`${plural(leanProjects.length, 'Lean project')}, none older than 4.26`)
    : warning(
        `${listed(old.map(({ path, toolchain }) => `${path} uses ${toolchain}`))}: before 4.26 the language server can hang for good`,
        'upgrade the toolchain to v4.26.0 or newer, and run lake update',
      );
};

/** The first with LEAN_BUILD_CONCURRENCY. */
const SERVER_WITH_CONCURRENCY = [0, 24] as const;

export const leanServer: HealthCheck = ({ leanServers }) => {
  if (leanServers.length === 0) return ok('lean-lsp-mcp is neither installed nor running');
  const old = leanServers.filter(({ version }) => olderThan(version ?? '', SERVER_WITH_CONCURRENCY));
  if (old.length > 0)
    return warning(
      `lean-lsp-mcp ${listed(old.map(({ version, where }) => `${version} (${where})`))}: it does not know LEAN_BUILD_CONCURRENCY`,
      'upgrade to 0.24 or newer (uv tool upgrade lean-lsp-mcp) and set LEAN_BUILD_CONCURRENCY=share',
    );
  const known = [...new Set(leanServers.flatMap(({ version }) => version ?? []))];
  return ok(known.length === 0 ? 'lean-lsp-mcp of an unknown version' : `lean-lsp-mcp ${known.join(', ')}`);
};

export const leanCrowd: HealthCheck = ({ leanServers }) => {
  const byProject = new Map<string, string[]>();
  for (const { project, where } of leanServers)
    if (project !== null) byProject.set(project, [...(byProject.get(project) ?? []), where]);
  const crowded = [...byProject].filter(([, servers]) => servers.length > 1);
  return crowded.length === 0
    ? ok('no two servers run on one Lean project')
    : warning(
        listed(
          crowded.map(
            ([project, servers]) =>
              `${plural(servers.length, 'server')} on ${project} (${servers.join(', ')})`,
          ),
        ),
        'they undo the builds of each other: end all but one, or wrap builds in reaptop exclusive',
      );
};

export const refreshTimer: HealthCheck = ({ timers }) => {
  if (timers.length === 0) return ok('no timer runs claude-refresh');
  const enabled = timers.filter(timer => timer.enabled);
  return warning(
    enabled.length === 0
      ? `${listed(timers.map(timer => timer.path))} is installed but not enabled`
      : `${listed(enabled.map(timer => timer.path))} runs claude-refresh every hour, which kills agents that have no terminal, at work or not`,
    'remove it: install-systemd-timer.sh --uninstall, or systemctl --user disable --now claude-refresh.timer',
  );
};

export const claudeFiles: HealthCheck = ({ strangeFiles }) =>
  strangeFiles.length === 0
    ? ok('Claude writes its session files in a known format')
    : warning(
        `${listed(strangeFiles)}: in a format that reaptop does not know, so no verdict is built on it`,
        'this Claude Code is newer than reaptop, or the file is broken: upgrade reaptop',
      );
