import { spawnSync } from 'node:child_process';
import { until } from '../../../support/until.ts';

/** Agents start slowly on two cores. */
export const PATIENCE = { timeoutMs: 90_000 };

export const tmux = (env: NodeJS.ProcessEnv, ...args: string[]): string => {
  const { status, stdout, stderr } = spawnSync('tmux', ['-u', ...args], { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`tmux ${args.join(' ')}: ${stderr}`);
  return stdout.trimEnd();
};

/** A session of the user's tmux with a shell in it, used as a person would. */
export class TmuxTerminal {
  readonly name: string;
  readonly pid: number;
  readonly #env: NodeJS.ProcessEnv;

  constructor(env: NodeJS.ProcessEnv, name: string, cwd: string) {
    this.name = name;
    this.#env = env;
    const told = tmux(
      env,
      ...['new-session', '-d', '-P', '-F', '#{pane_pid}', '-x', '180', '-y', '50', '-s', name, '-c', cwd],
    );
    this.pid = Number(told);
  }

  /** Types a line and presses Enter. */
  run(line: string): void {
    this.type(line);
    this.keys('Enter');
  }

  type(text: string): void {
    tmux(this.#env, 'send-keys', '-t', `=${this.name}:`, '-l', text);
  }

  keys(...keys: readonly string[]): void {
    tmux(this.#env, 'send-keys', '-t', `=${this.name}:`, ...keys);
  }

  screen(): string {
    return tmux(this.#env, 'capture-pane', '-p', '-t', `=${this.name}:`);
  }

  async shows(wanted: string | RegExp): Promise<void> {
    await until(
      `${wanted} in ${this.name}`,
      () => {
        const text = this.screen();
        return typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text);
      },
      PATIENCE,
    );
  }

  /** Closes the terminal as a person closes a window: its programs are hung up. */
  kill(): void {
    tmux(this.#env, 'kill-session', '-t', `=${this.name}`);
  }
}

/** Every terminal of the scene as it looks now, for whoever asks why something did not come. */
export const screens = (env: NodeJS.ProcessEnv): string => {
  try {
    const names = tmux(env, 'list-sessions', '-F', '#{session_name}').split('\n');
    return names.map(name => `--- ${name}\n${tmux(env, 'capture-pane', '-p', '-t', `=${name}:`)}`).join('\n');
  } catch (error) {
    return (error as Error).message;
  }
};
