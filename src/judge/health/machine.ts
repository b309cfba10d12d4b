import { fail, type HealthCheck, ok, warning } from '../../model/health.ts';
import { plural, spellBytes } from '../../model/units.ts';

/** The oldest tmux that our tests have asked; older ones may lack what we ask for. */
const KNOWN_TMUX = 3;

export const tmux: HealthCheck = ({ tmux: { version, answered, silent } }) => {
  if (version === null)
    return silent.length > 0
      ? fail(
          'a tmux server runs, but there is no tmux in PATH to ask it: its panes are unknown',
          'put tmux in PATH',
        )
      : warning('tmux is not in PATH: panes would be unknown', 'install tmux, if your agents run in it');
  const servers = answered === 0 ? 'no server runs' : `${plural(answered, 'server')} answered`;
  if (silent.length > 0)
    return fail(
      `${version}: ${silent.join(', ')} did not answer, so what runs in it is unknown`,
      'check whether that server is stopped or hangs (ps -o pid,stat,args -C tmux)',
    );
  const major = Number.parseInt(/\d+/.exec(version)?.[0] ?? '', 10);
  if (major < KNOWN_TMUX)
    return warning(
      `${version}, ${servers}; it is older than any version that reaptop knows`,
      'upgrade to tmux 3 or newer',
    );
  return ok(`${version}, ${servers}`);
};

/** Without it an orphan with unix sockets can be in use: it is a suspect at most. */
export const sockets: HealthCheck = ({ unixSockets }) => {
  if (unixSockets === null) return ok('unix sockets are not read on this system');
  return unixSockets
    ? ok('ss lists unix sockets')
    : warning(
        'ss cannot list unix sockets: an orphan that has one is called suspect, never leaked',
        'install iproute2',
      );
};

/** A watch per directory of heartbeats; a project has some hundred. */
const FEW_WATCHES = 8192;

export const inotify: HealthCheck = ({ watch: { failed, watches, instances } }) => {
  if (failed !== null)
    return fail(
      `a directory cannot be watched: ${failed}`,
      'raise fs.inotify.max_user_instances and fs.inotify.max_user_watches (sysctl), or use --poll',
    );
  if (watches === null) return ok('a directory can be watched');
  if (watches < FEW_WATCHES)
    return warning(
      `only ${watches} directories may be watched (fs.inotify.max_user_watches)`,
      'raise it: sysctl fs.inotify.max_user_watches=65536',
    );
  return ok(`a directory can be watched; ${watches} watches and ${instances ?? '?'} instances are allowed`);
};

const MIB = 1024 ** 2;
/** The recorder and the logs together stay below 80 MiB. */
const ENOUGH = 100 * MIB;

export const state: HealthCheck = ({ state: found }) => {
  if (found.kind === 'nowhere')
    return fail(`there is no place for the audit log: ${found.why}`, 'set HOME or XDG_STATE_HOME');
  const { path, is, ours, mode, writable, free } = found;
  if (is === 'other') return fail(`${path} is not a directory`, 'move away what is in its place');
  if (is === 'directory' && !ours)
    return fail(`${path} belongs to another user`, `give it back: chown -R "$(id -un)" '${path}'`);
  if (!writable)
    return fail(`${path} cannot be written`, 'make it writable: acts are not recorded until then');
  if (free !== null && free < MIB)
    return fail(`the disk of ${path} is full (${spellBytes(free)} left)`, 'make room: acts are not recorded');
  if (mode !== null && (mode & 0o077) !== 0)
    return warning(
      `${path} has mode ${mode.toString(8).padStart(4, '0')}: others may look into it`,
      `chmod 700 '${path}' (the next act does it by itself)`,
    );
  if (free !== null && free < ENOUGH)
    return warning(
      `the disk of ${path} has only ${spellBytes(free)} left`,
      'make room for logs and recordings',
    );
  const room = free === null ? '' : `, ${spellBytes(free)} free`;
  if (found.elsewhere !== null)
    return warning(`${found.elsewhere}${room}`, 'set HOME or XDG_STATE_HOME to a directory of your own');
  return ok(
    is === 'absent' ? `${path} will be made at the first act${room}` : `${path} is yours alone${room}`,
  );
};

export const config: HealthCheck = ({ config: { path, present, wrong, ignored } }) => {
  if (wrong !== null) return fail(wrong, 'fix it: every other command stops there with exit 2');
  if (ignored.length > 0)
    return warning(ignored.join('; '), 'it came with a project: fix it there, or leave it');
  if (path === null) return ok('no place for a config file: the defaults hold');
  return ok(present ? `${path} is valid` : `no config file: the defaults hold (${path})`);
};

/** Of its memory, what a machine needs to breathe. */
const SHORT = 0.1;
const DESPERATE = 0.03;
/** Percent of a minute: below it a person does not notice. */
const WAITED = 10;
const SWAPPED = 0.5;

export const pressure: HealthCheck = ({ pressure: found }) => {
  const { memTotal, memAvailable, swapTotal, swapUsed, waited, level } = found;
  if (memTotal === null || memAvailable === null) return ok('this system does not report its memory size');
  const left = memAvailable / memTotal;
  const swap = swapTotal
    ? `, ${spellBytes(swapUsed ?? 0)} of ${spellBytes(swapTotal)} swap used`
    : ', no swap';
  const says = `${spellBytes(memAvailable)} of ${spellBytes(memTotal)} memory available${swap}`;
  const todo = 'see what holds it: reaptop --once; end what is leaked: reaptop clean';
  if (left < DESPERATE) return fail(says, todo);
  if (level === 'warn' || level === 'critical')
    return warning(`${says}; the system reports memory pressure: ${level}`, todo);
  if (waited !== null && waited >= WAITED)
    return warning(`${says}; programs waited for memory ${waited.toFixed(0)} % of the last minute`, todo);
  if (left < SHORT || (swapTotal && (swapUsed ?? 0) / swapTotal > SWAPPED)) return warning(says, todo);
  return ok(says);
};
