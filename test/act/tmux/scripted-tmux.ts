import { existsSync, readFileSync, rmSync } from 'node:fs';
import { vi } from 'vitest';
import type { Sandbox } from '../../support/sandbox.ts';

/** What a tmux answers to one command. */
interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly hangs?: boolean;
}

export const DONE = (stdout: string): Answer => ({ code: 0, stdout });
export const FAILED: Answer = { code: 1, stdout: '' };
export const HUNG: Answer = { code: 0, stdout: '', hangs: true };

/** A program called tmux that answers as it is told, and notes what it was asked. */
export class ScriptedTmux {
  readonly #sandbox: Sandbox;
  #hanging = 0;

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
    const told = sandbox.path('tmux');
    sandbox.write(
      'tmux-bin/tmux',
      `#!/bin/sh
n=$(/bin/cat '${told}/asked' 2>/dev/null | /usr/bin/wc -l)
/usr/bin/env > "${told}/$n.env"
printf '%s\\n' "$*" >> '${told}/asked'
[ ! -e "${told}/$n.hangs" ] || exec /bin/sleep 600
/bin/cat "${told}/$n.stdout" || exit 2
exit "$(/bin/cat "${told}/$n.code")"
`,
      0o755,
    );
  }

  /** Where programs are found: this one alone. */
  get PATH(): string {
    return this.#sandbox.path('tmux-bin');
  }

  answers(...answers: readonly Answer[]): void {
    rmSync(this.#sandbox.path('tmux'), { recursive: true, force: true });
    this.#sandbox.write('tmux/asked', '');
    this.#hanging = answers.findIndex(({ hangs }) => hangs === true) + 1;
    for (const [n, { code, stdout, hangs = false }] of answers.entries()) {
      this.#sandbox.write(`tmux/${n}.code`, String(code));
      this.#sandbox.write(`tmux/${n}.stdout`, stdout);
      if (hangs) this.#sandbox.write(`tmux/${n}.hangs`, '');
    }
  }

  asked(): readonly string[] {
    const path = this.#sandbox.path('tmux/asked');
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
  }

  /** The environment of the n-th command. */
  environ(n: number): Readonly<Record<string, string>> {
    const lines = readFileSync(this.#sandbox.path(`tmux/${n}.env`), 'utf8')
      .trimEnd()
      .split('\n');
    return Object.fromEntries(lines.map(line => line.split(/=(.*)/s).slice(0, 2)));
  }

  /** What comes of `ask`. A tmux that hangs is not waited for: its time passes at once. */
  async outcome<T>(ask: () => Promise<T>): Promise<T> {
    if (this.#hanging === 0) return ask();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const result = ask();
      while (this.asked().length < this.#hanging) await new Promise(done => setImmediate(done));
      vi.advanceTimersByTime(60_000);
      return await result;
    } finally {
      vi.useRealTimers();
    }
  }
}
