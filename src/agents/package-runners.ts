import { type Family, list } from './families.ts';

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
