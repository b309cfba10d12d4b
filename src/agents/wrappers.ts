import { type Carry, type Family, type Interpreter, list } from './family-type.ts';

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
  {
    // Claude's own helper inside bwrap, run by descriptor: it has no path there.
    id: 'apply-seccomp',
    kind: 'wrapper',
    name: 'apply-seccomp',
    paths: [{ under: '/proc/self/fd', direct: true }],
    only: [{ flag: ['-c'] }],
    carries: program(),
  },
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

/** Command shells; a login shell's leading dash is taken off before the look-up. */
export const SHELLS = {
  programs: list('sh bash zsh dash fish ksh mksh ash tcsh csh nu pwsh elvish xonsh rbash'),
  /** Options whose value is the next word. */
  valueFlags: list('-o +o -O +O --rcfile --init-file -C --init-command'),
};

/** Programs whose first file argument is the real program. Versions (`python3.12`) are taken off before the look-up. */
export const INTERPRETERS: readonly Interpreter[] = [
  {
    id: 'node',
    programs: ['node', 'nodejs'],
    valueFlags: list(`
      -r --require --import --loader --experimental-loader --env-file -C --conditions --title --icu-data-dir
      --inspect-port`),
    evalFlags: list('-e --eval -p --print -pe'),
  },
  {
    id: 'bun',
    programs: ['bun'],
    valueFlags: list('-r --preload --env-file --cwd -c --config'),
    evalFlags: ['-e', '--eval'],
    commands: ['run'],
  },
  {
    id: 'deno',
    programs: ['deno'],
    valueFlags: list('-c --config --import-map --env-file --lock --cert'),
    evalFlags: ['eval'],
    commands: ['run'],
  },
  {
    id: 'python',
    // macOS frameworks start `Python.app/Contents/MacOS/Python`, which is no desktop app.
    programs: ['python', 'Python', 'pypy', 'pythonw'],
    valueFlags: ['-W', '-X', '--check-hash-based-pycs'],
    evalFlags: ['-c'],
    moduleFlags: ['-m'],
  },
  {
    id: 'ts-node',
    programs: ['ts-node', 'ts-node-esm'],
    valueFlags: list('-P --project -r --require'),
    evalFlags: ['-e', '--eval'],
  },
  { id: 'ruby', programs: ['ruby'], valueFlags: ['-r', '-I'], evalFlags: ['-e'] },
  { id: 'perl', programs: ['perl'], valueFlags: ['-I'], evalFlags: ['-e', '-E'] },
  { id: 'php', programs: ['php'], valueFlags: ['-d', '-c'], evalFlags: ['-r'], scriptFlags: ['-f'] },
  {
    id: 'java',
    programs: ['java'],
    valueFlags: list(`
      -cp -classpath --class-path --module-path --add-opens --add-modules --add-exports`),
    scriptFlags: ['-jar'],
  },
  { id: 'dotnet', programs: ['dotnet'], commands: ['exec'] },
];

const NPM_VALUES = list('--package -p --userconfig --prefix --registry --cache -w --workspace --loglevel');
const NPM_TEXT = list('-c --call');
const PNPM_VALUES = list('--filter -F -C --dir --package -p');
const UV_VALUES = list(`
  --from --with --with-requirements --with-editable --python -p --directory --project --index --index-url -i
  --extra-index-url --default-index --cache-dir --env-file --extra --group --find-links --config-file --link-mode`);
// What they name is a line of the project's own package.json.
const PROJECT_SCRIPTS = list('run run-script start test t dev');

/** They fetch a program by name, start it and wait. */
export const PACKAGE_RUNNERS: readonly Family[] = [
  {
    id: 'npm-exec',
    kind: 'wrapper',
    programs: ['npm', 'npm-cli.js'],
    only: [{ command: ['exec', 'x'] }],
    valueFlags: NPM_VALUES,
    carries: {
      names: 'package',
      commands: ['exec', 'x'],
      valueFlags: NPM_VALUES,
      packageFlags: ['--package', '-p'],
      textFlags: NPM_TEXT,
    },
  },
  {
    id: 'npm-run',
    kind: 'wrapper',
    programs: ['npm', 'npm-cli.js'],
    only: [{ command: PROJECT_SCRIPTS }],
    valueFlags: NPM_VALUES,
    carries: { names: 'nothing', commands: PROJECT_SCRIPTS, valueFlags: NPM_VALUES },
  },
  {
    id: 'npx',
    kind: 'wrapper',
    programs: ['npx', 'npx-cli.js', 'pnpx', 'bunx'],
    carries: {
      names: 'package',
      valueFlags: NPM_VALUES,
      packageFlags: ['--package', '-p'],
      textFlags: NPM_TEXT,
    },
  },
  {
    id: 'pnpm-dlx',
    kind: 'wrapper',
    programs: list('pnpm pnpm.cjs yarn yarn.js yarnpkg'),
    only: [{ command: ['dlx', 'exec'] }],
    valueFlags: PNPM_VALUES,
    carries: {
      names: 'package',
      commands: ['dlx', 'exec'],
      valueFlags: PNPM_VALUES,
      packageFlags: ['--package', '-p'],
    },
  },
  {
    id: 'pnpm-run',
    kind: 'wrapper',
    programs: list('pnpm pnpm.cjs yarn yarn.js yarnpkg'),
    only: [{ command: PROJECT_SCRIPTS }],
    valueFlags: PNPM_VALUES,
    carries: { names: 'nothing', commands: PROJECT_SCRIPTS, valueFlags: PNPM_VALUES },
  },
  {
    id: 'bun-x',
    kind: 'wrapper',
    programs: ['bun'],
    only: [{ start: [['x'], ['--bun', 'x']] }],
    carries: { names: 'package', commands: ['x'] },
  },
  {
    // A file is run by bun itself; anything else is a script of the project.
    id: 'bun-run',
    kind: 'wrapper',
    programs: ['bun', 'deno'],
    only: [{ start: [['run'], ['task']] }],
    never: [{ holding: ['/', ':'] }, { ending: list('.js .ts .mjs .cjs .mts .cts .tsx .jsx') }],
    carries: { names: 'nothing', commands: ['run', 'task'] },
  },
  {
    id: 'uvx',
    kind: 'wrapper',
    programs: ['uvx'],
    carries: { names: 'package', valueFlags: UV_VALUES, packageFlags: ['--from'] },
  },
  {
    // uvx starts itself again as `uv tool uvx NAME`, and stays as the parent.
    id: 'uv',
    kind: 'wrapper',
    programs: ['uv'],
    carries: {
      names: 'package',
      commands: ['tool', 'run', 'uvx'],
      valueFlags: UV_VALUES,
      packageFlags: ['--from'],
      moduleFlags: ['-m', '--module'],
    },
  },
  {
    id: 'pipx',
    kind: 'wrapper',
    programs: ['pipx'],
    only: [{ command: ['run'] }],
    carries: {
      names: 'package',
      commands: ['run'],
      valueFlags: ['--spec', '--python'],
      packageFlags: ['--spec'],
    },
  },
  {
    // The client end of a containerised server: its stdio goes through here.
    id: 'docker-run',
    kind: 'wrapper',
    programs: ['docker', 'podman', 'nerdctl'],
    only: [{ start: [['run']] }],
    carries: {
      names: 'package',
      commands: ['run'],
      valueFlags: list(`
        -e --env --env-file -v --volume --mount --name --network --net -p --publish -u --user -w --workdir
        --entrypoint -l --label -m --memory --cpus --add-host --pull --platform`),
    },
  },
];
