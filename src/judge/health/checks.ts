import {
  type Check,
  fail,
  type HealthCheck,
  type HealthFacts,
  type InstalledHooks,
  ok,
  warning,
} from '../../model/health.ts';
import { formatAge, formatMoment, plural, spellBytes } from '../../model/units.ts';
import { claudeFiles, leanCrowd, leanServer, leanToolchain, refreshTimer } from './agents.ts';
import { config, inotify, pressure, sockets, state, tmux } from './machine.ts';

const AGAIN =
  'bring them up to date: reaptop hook install (with --project or --shared for a project’s settings)';

const described = ({ path, events, missing }: InstalledHooks): string =>
  `${plural(events, 'hook')} in ${path}${missing.length === 0 ? '' : ` (not ${missing.join(', ')})`}`;

/** Installed, and start this very program as it would be installed now. */
const hooks: HealthCheck = ({ hooks: places, plugin }) => {
  const unreadable = places.find(place => place.unreadable !== null);
  if (unreadable !== undefined)
    return warning(
      `${unreadable.path} cannot be read: ${unreadable.unreadable}`,
      'mend it: Claude Code reads it, too',
    );
  const broken = places.find(place => place.broken !== null);
  if (broken !== undefined)
    return fail(`the hooks in ${broken.path} start ${broken.broken}, which is not there`, AGAIN);
  const old = places.find(place => !place.current);
  if (old !== undefined)
    return warning(`the hooks in ${old.path} are not as this reaptop would install them`, AGAIN);
  if (plugin?.unusable != null)
    return warning(
      `${plugin.path} is not the plugin: ${plugin.unusable}`,
      'move it away, then reaptop plugin install',
    );
  if (plugin !== null && !plugin.current)
    return warning(
      `the plugin in ${plugin.path} is not as this reaptop would install it`,
      'bring it up to date: reaptop plugin install',
    );
  if (plugin !== null && places.length > 0)
    return warning(
      `the hooks are in ${places[0]!.path} and in the plugin; those in settings stand down`,
      'move them: reaptop plugin install (or reaptop hook uninstall, with --project or --shared)',
    );
  if (plugin !== null) return ok(`the plugin in ${plugin.path}: current`);
  return ok(
    places.length === 0
      ? 'no hooks are installed (reaptop plugin install)'
      : `${places.map(described).join(', ')}: current`,
  );
};

/** Where processes are read from. */
const proc: HealthCheck = ({ proc: found }) => {
  if (found.kind === 'none')
    return ok(`${found.platform} has no /proc: ps is used instead, which costs more and shows less`);
  if (found.kind === 'missing')
    return fail('/proc is not mounted: there is nothing to read', 'mount it: mount -t proc proc /proc');
  return found.hidepid === null
    ? ok('/proc is mounted; all processes are visible')
    : warning(
        `/proc is mounted with hidepid=${found.hidepid}: processes of other users are not seen, nor their parents`,
        'verdicts hold for your own processes; to see all, mount it without hidepid or run in the group its gid= names',
      );
};

/** What this Mac gives and hides. What it hides is unknown, and proves nothing. */
const macos: HealthCheck = ({ mac }) => {
  if (mac === null) return ok('not a Mac');
  const { processes: count, files, jobs, environments, boot } = mac;
  if (!boot)
    return warning(
      'sysctl does not name this boot (kern.bootsessionuuid)',
      'lineage is not kept: what an agent leaves is suspect at most once reaptop is closed',
    );
  if (count === 0) return ok('there is no process of an agent to try lsof and launchctl on');
  if (files === 0 || jobs === 0)
    return warning(
      `${files === 0 ? 'lsof' : 'launchctl'} does not answer in time`,
      'ports, clients and services are unknown, so nothing is called leaked; attach reaptop doctor --bundle to an issue',
    );
  return ok(
    `lsof shows the files of ${files} of ${plural(count, 'process', 'processes')}, launchctl answers, ps shows ${plural(environments, 'environment')}`,
  );
};

/** Shown at most: the rest is counted. */
const MOST_PIDS = 5;

/** Whether the table can be read, and the own processes in it looked into. */
const processes: HealthCheck = ({ look }) => {
  if (!look.ok)
    return fail(`processes cannot be listed: ${look.why}`, 'nothing else can be trusted until they can');
  const seen = `${plural(look.processes, 'process', 'processes')}, ${plural(look.agents, 'agent')}`;
  if (look.closed.length > 0) {
    const shown = look.closed.slice(0, MOST_PIDS).join(', ');
    const more = look.closed.length > MOST_PIDS ? ' and more' : '';
    return warning(
      `${seen}; ${plural(look.closed.length, 'process', 'processes')} of your own cannot be looked into (${shown}${more})`,
      'their environment is closed (a setuid program, a sandbox, or kernel.yama): they are never called leaked by it',
    );
  }
  return ok(look.hidden > 0 ? `${seen}; ${look.hidden} belong to other users and are left alone` : seen);
};

/** Whether guard keeps the machine healthy unattended. */
const guard: HealthCheck = ({ guard: { running, held, lookAge, fresh } }) => {
  if (held !== null)
    return fail(`guard waits for a person: ${held}`, 'look, then let it go on: reaptop guard allow');
  if (running === null)
    return ok('guard is not running; reaptop guard install starts it, now and at every login');
  const since = `guard has been running since ${formatMoment(running.since)} (pid ${running.pid})`;
  if (lookAge !== null && !fresh)
    return fail(
      `${since}, but its last look was ${formatAge(lookAge)} ago`,
      'it hangs or is stopped: end it, and start it again',
    );
  return ok(since);
};

/** What it is kept within (manual audit), and some room for the hour being written. */
const MOST_BYTES = 96 * 1024 ** 2;
/** Guard looks every ten seconds; an interval of an hour is the longest there is. */
const SILENT_SECONDS = 3700;

const recorder: HealthCheck = ({ guard: { running }, recorder: { segments, bytes, age } }) => {
  if (segments === 0)
    return running === null
      ? ok('nothing is recorded: guard would')
      : warning('guard runs, and nothing is recorded', 'look at its warnings: reaptop guard status');
  const kept = `${plural(segments, 'hour')} recorded, ${spellBytes(bytes)}`;
  if (bytes > MOST_BYTES)
    return warning(`${kept}: more than is kept`, 'look at the warnings of reaptop guard status');
  if (running !== null && age !== null && age > SILENT_SECONDS)
    return warning(
      `${kept}, the last ${formatAge(age)} ago, though guard runs`,
      'look at reaptop guard status',
    );
  return ok(kept);
};

/** What `doctor` looks at, in the order in which it says it. */
export const HEALTH_CHECKS = {
  proc,
  macos,
  processes,
  tmux,
  sockets,
  inotify,
  state,
  config,
  memory: pressure,
  hooks,
  guard,
  recorder,
  'lean-toolchain': leanToolchain,
  'lean-lsp-mcp': leanServer,
  'lean-servers': leanCrowd,
  'claude-refresh': refreshTimer,
  'claude-files': claudeFiles,
} satisfies Record<string, HealthCheck>;

export type CheckId = keyof typeof HEALTH_CHECKS;

export interface NamedCheck extends Check {
  readonly id: CheckId;
}

export const checkHealth = (facts: HealthFacts): readonly NamedCheck[] =>
  Object.entries(HEALTH_CHECKS).map(([id, check]) => ({ id: id as CheckId, ...check(facts) }));
