import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { reaptop } from '../support/cli.ts';
import { Pty } from '../support/pty.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
const scripts: Record<string, string> = {};
beforeAll(async () => {
  sandbox = new Sandbox();
  mkdirSync(sandbox.path('work/some dir'));
  sandbox.write('work/some.json', '{}');
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout, stderr } = await reaptop(sandbox, ['completion', shell]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    scripts[shell] = sandbox.write(`completions/${shell}`, stdout);
  }
});
afterAll(() => sandbox.close());

const has = (program: string): boolean => spawnSync(program, ['-c', 'true']).status === 0;

/** What is typed, and what may come next. */
const CASES: readonly [typed: readonly string[], offered: readonly string[]][] = [
  [['cle'], ['clean']],
  [['clean', '--zo'], ['--zombie-parents']],
  [
    ['clean', '--kind', 'lea'],
    ['lean-lsp', 'lean'],
  ],
  [
    ['--platform', 'p'],
    ['procfs', 'portable'],
  ],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish', '--help'],
  ],
  [
    ['guard', 'print', ''],
    ['rules', 'dashboard'],
  ],
  [['help', 'rep'], ['report']],
  [['hel'], ['help']],
  [['--interval', ''], []],
  [['sweep', '--zo'], []],
];

const ran = (program: string, script: string, ...args: string[]): string[] => {
  const { stdout, stderr } = spawnSync(program, ['-c', script, program, ...args], {
    env: sandbox.env,
    cwd: sandbox.path('work'),
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return stdout.split('\n').filter(line => line !== '');
};

describe.runIf(has('bash'))('bash', () => {
  const offers = (typed: readonly string[]): string[] =>
    ran(
      'bash',
      `source "$1"; shift; COMP_WORDS=(reaptop "$@"); COMP_CWORD=$#; _reaptop; printf '%s\\n' "\${COMPREPLY[@]}"`,
      scripts.bash!,
      ...typed,
    );

  test.each(CASES)('reaptop %j', (typed, offered) =>
    expect(offers(typed).sort()).toEqual([...offered].sort()),
  );

  it('offers files and directories where they are wanted, spaces in them and all', () => {
    expect(offers(['--config', 'so']).sort()).toEqual(['some dir', 'some.json']);
    expect(offers(['clean', '--root', 'so'])).toEqual(['some dir']);
  });
});

describe.runIf(has('fish'))('fish', () => {
  const offers = (typed: readonly string[]): string[] =>
    ran('fish', `source ${scripts.fish}; complete -C "reaptop ${typed.join(' ')}"`).map(
      line => line.split('\t')[0]!,
    );

  test.each(CASES)('reaptop %j', (typed, offered) => {
    // Options come only after a dash has been typed.
    const wanted = typed.at(-1) === '' ? offered.filter(word => !word.startsWith('-')) : offered;
    expect(offers(typed).sort()).toEqual([...wanted].sort());
  });
});

describe.runIf(has('zsh'))('zsh', () => {
  test.each([
    ['reaptop cle', 'reaptop clean '],
    ['reaptop clean --zo', 'reaptop clean --zombie-parents '],
    ['reaptop --platform proc', 'reaptop --platform procfs '],
    ['reaptop clean --kind bro', 'reaptop clean --kind browser '],
    ['reaptop guard print ru', 'reaptop guard print rules '],
    ['reaptop help rep', 'reaptop help report '],
  ])('%j becomes %j', async (typed, whole) => {
    const terminal = new Pty(sandbox, {
      command: ['zsh', '-f', '-i'],
      env: { PS1: 'ready> ', ZDOTDIR: sandbox.path('work') },
      columns: 120,
    });
    await terminal.shows('ready>');
    terminal.press(
      `autoload -U compinit && compinit -D && source ${scripts.zsh} && clear && echo loa''ded\r`,
    );
    await terminal.shows('loaded\n');
    terminal.press(typed);
    await terminal.shows(`ready> ${typed}`);
    // On its own: a tab amid typed-ahead text is taken for a tab.
    terminal.press('\t');
    await terminal.shows(`ready> ${whole.trimEnd()}`);
    terminal.press('\u0015exit\r');
    expect(await terminal.exit()).toBe(0);
  });
});

it('asks for a shell that it knows', async () => {
  const { code, stderr } = await reaptop(sandbox, ['completion', 'tcsh']);
  expect(code).toBe(2);
  expect(stderr).toMatch(/tcsh.*bash, zsh, fish/);
});
