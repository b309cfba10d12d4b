import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Pty } from '../../support/pty.ts';
import { Sandbox } from '../../support/sandbox.ts';

const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url));

/** What a person may be who installs it: the owner of the files, or somebody else who may only read them. */
export type Who = 'owner' | 'nobody';
const NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] as const;

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The package as the registry would hand it out, installed into a prefix where nothing else is. */
export class Installed {
  readonly sandbox = new Sandbox();
  /** Outside the sandbox, which nobody else may enter. */
  readonly open = mkdtempSync(join(tmpdir(), 'reaptop-prefix-'));
  readonly tarball: string;
  readonly files: readonly { readonly path: string; readonly size: number }[];
  readonly said: string;

  constructor(repository = REPOSITORY) {
    spawnSync('chmod', ['755', this.open]);
    // What `prepare` makes is there already; a second build would pull it from under others' feet.
    const packed = this.#npm(
      ['pack', '--ignore-scripts', '--json', '--pack-destination', this.open],
      repository,
    );
    const [{ filename, files }] = JSON.parse(packed.stdout);
    this.tarball = join(this.open, filename);
    this.files = files;
    const prefix = join(this.open, 'prefix');
    mkdirSync(prefix);
    const { code, stdout, stderr } = this.#npm(
      ['install', '--global', '--prefix', prefix, '--offline', '--foreground-scripts', this.tarball],
      this.open,
    );
    if (code !== 0) throw new Error(stderr);
    this.said = stdout + stderr;
  }

  get prefix(): string {
    return join(this.open, 'prefix');
  }

  get bin(): string {
    return join(this.prefix, 'bin/reaptop');
  }

  #npm(args: readonly string[], cwd: string): Ran {
    const { status, stdout, stderr } = spawnSync(
      'npm',
      [...args, '--no-audit', '--no-fund', '--loglevel=warn'],
      {
        cwd,
        env: {
          // What `npm test` hands down of this machine's npm is none of the package's.
          ...Object.fromEntries(Object.entries(this.sandbox.env).filter(([name]) => !/^npm_/i.test(name))),
          npm_config_cache: this.sandbox.path('npm'),
          npm_config_userconfig: '/dev/null',
        },
        encoding: 'utf8',
      },
    );
    return { code: status, stdout, stderr };
  }

  /** A copy of another Node where nobody is kept out. */
  bring(node: string): string {
    const place = join(this.open, `node-${dirname(resolve(node)).replaceAll('/', '_')}`, 'node');
    cpSync(node, place);
    return place;
  }

  /** The first Node in PATH is this one. */
  #env(node: string, who: Who): Record<string, string> {
    const PATH = `${dirname(node)}:${process.env.PATH}`;
    if (who === 'owner') return { PATH };
    const home = join(this.open, 'home');
    mkdirSync(home, { recursive: true });
    spawnSync('chown', ['65534:65534', home]);
    return { PATH, HOME: home, XDG_CONFIG_HOME: '', XDG_STATE_HOME: '', XDG_CACHE_HOME: '', TMUX_TMPDIR: '' };
  }

  #command(who: Who): [string, ...string[]] {
    return who === 'nobody' ? [...NOBODY, this.bin] : [this.bin];
  }

  /** Started as the shell would from PATH, by this Node, in a directory that others cannot enter. */
  run(args: readonly string[], node: string, who: Who): Ran {
    const [program, ...before] = this.#command(who);
    const { status, stdout, stderr } = spawnSync(program, [...before, ...args], {
      cwd: this.sandbox.path('work'),
      env: { ...this.sandbox.env, ...this.#env(node, who) },
      encoding: 'utf8',
    });
    return { code: status, stdout, stderr };
  }

  terminal(node: string, who: Who): Pty {
    return new Pty(this.sandbox, {
      command: this.#command(who),
      env: this.#env(node, who),
    });
  }

  async close(): Promise<void> {
    await this.sandbox.close();
    rmSync(this.open, { recursive: true, force: true });
  }
}

/** What is wrong with it there; nothing, one hopes. */
export const troubleWith = async (installed: Installed, node: string, who: Who): Promise<string[]> => {
  const wrong: string[] = [];
  const expect = (what: string, ran: Ran, stdout: RegExp): void => {
    if (ran.code !== 0 || ran.stderr !== '' || !stdout.test(ran.stdout))
      wrong.push(`${what}: exit ${ran.code}, ${ran.stderr || ran.stdout.slice(0, 200)}`);
  };
  expect('--version', installed.run(['--version'], node, who), /^\d+\.\d+\.\d+\n$/);
  expect('--help', installed.run(['--help'], node, who), /^Usage: reaptop /);
  expect('--once', installed.run(['--once'], node, who), /^reaptop /);
  expect('--once again, from the cache', installed.run(['--once'], node, who), /^reaptop /);
  expect('doctor', installed.run(['doctor'], node, who), /^(?:ok|warn) +proc: /);
  expect('completion', installed.run(['completion', 'bash'], node, who), /complete -F _reaptop reaptop/);
  expect('clean', installed.run(['clean'], node, who), /Nothing|Would end/);
  const terminal = installed.terminal(node, who);
  try {
    await terminal.shows('reaptop');
    terminal.press('q');
    const code = await terminal.exit();
    if (code !== 0 || terminal.alternate) wrong.push(`the live screen: exit ${code}`);
  } catch (error) {
    wrong.push(`the live screen: ${(error as Error).message}`);
    terminal.process.kill('SIGKILL');
  }
  return wrong;
};
