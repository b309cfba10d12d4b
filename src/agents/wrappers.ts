import { type Carry, type Family, list } from './families.ts';

const around = (id: string, programs: string, carries: Carry): Family => ({
  id,
  kind: 'wrapper',
  programs: list(programs),
  carries,
});

const program = (valueFlags = '', more: Partial<Carry> = {}): Carry => ({
  names: 'program',
  valueFlags: list(valueFlags),
  ...more,
});

const TEXT = list('-c --command');

/** Programs that start another one, change something around it, and wait. */
export const WRAPPERS: readonly Family[] = [
  {
    id: 'tsx',
    kind: 'wrapper',
    programs: ['tsx'],
    packages: ['tsx'],
    carries: {
      names: 'script',
      commands: ['watch'],
      valueFlags: list('--tsconfig --env-file --import -r --require'),
    },
  },
  around('nodemon', 'nodemon nodemon.js', {
    names: 'script',
    valueFlags: list('-w --watch -e --ext -x --exec'),
  }),
  around('sudo', 'sudo', program('-u -g -h -p -C -r -t -U -D -R -T --user --group', { assignments: true })),
  around('doas', 'doas', program('-u -C')),
  around('su', 'su runuser', { names: 'nothing', textFlags: TEXT }),
  around('timeout', 'timeout gtimeout', program('-k -s --kill-after --signal', { skip: 1 })),
  around('nohup', 'nohup', program()),
  around('setsid', 'setsid', program()),
  around('nice', 'nice ionice', program('-n --adjustment -c --class')),
  around(
    'env',
    'env',
    program('-u --unset -C --chdir', { assignments: true, textFlags: ['-S', '--split-string'] }),
  ),
  around('stdbuf', 'stdbuf unbuffer', program('-i -o -e')),
  around('time', 'time gtime', program('-f -o --format --output')),
  around('tee', 'tee', { names: 'nothing' }),
  around('xargs', 'xargs', program('-n -P -I -L -d -a -s -E')),
  around('script', 'script', program('-t -T -I -O -B -E -m -o', { skip: 1, textFlags: TEXT })),
  around('flock', 'flock', program('-w --timeout -E', { skip: 1, textFlags: TEXT })),
  around('taskset', 'taskset chrt', program('', { skip: 1 })),
  around('caffeinate', 'caffeinate systemd-inhibit', program('-t -w')),
  around('xvfb-run', 'xvfb-run dbus-run-session rlwrap winpty', program('-n -s --server-args -e -f')),
  around('sandbox', 'bwrap firejail unshare nsenter', program('', { afterDashes: true })),
  around('sandbox-exec', 'sandbox-exec', program('-p -f -n -D')),
  {
    // Under any of these names the command stands after two dashes.
    id: 'with-environment',
    kind: 'wrapper',
    programs: list('dotenv dotenvx op doppler mise direnv conda nix systemd-run'),
    only: [{ command: list('run exec x shell develop') }, { start: [['--']] }],
    carries: program('', { afterDashes: true }),
  },
  {
    id: 'poetry-run',
    kind: 'wrapper',
    programs: list('poetry pdm hatch rye pixi'),
    only: [{ command: ['run'] }],
    carries: program('', { commands: ['run'] }),
  },
  {
    // The current relay, too, sits at PPID 1 by design and holds sessions.
    id: 'orca-relay',
    kind: 'wrapper',
    programs: ['relay.js'],
    only: [{ flag: ['--detached'] }],
    role: 'declared-daemon',
    carries: { names: 'nothing' },
  },
];
