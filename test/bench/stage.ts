import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { startAgent } from '../support/agent.ts';
import { Sandbox } from '../support/sandbox.ts';
import { Crowd } from './crowd.ts';

/** How many processes concern an agent in the measurements that want some: a claude and what it started. */
const RELATED = 50;

/** How many of them look different at every refresh while `stir` is on. */
export const RESTLESS = 10;

/** Holds another amount of memory every while, as long as its flag is there; sleeps otherwise. */
const restless = (flag: string): string => `#!/usr/bin/perl
while (1) {
  if (!-e '${flag}') { sleep 2; next; }
  my $held = 'x' x (1_000_000 * int(5 + rand 30));
  select(undef, undef, undef, 0.7);
}
`;

/** Where every section is measured: a private home, a copy of the program, a crowd, an agent. */
export class Stage {
  readonly sandbox = new Sandbox();
  readonly crowd = new Crowd();
  readonly minutes: number;
  /** Fewer and shorter runs: a first answer in a minute and a half. */
  readonly quick: boolean;
  readonly repository: string;
  /** A copy: somebody may build while we measure. */
  readonly cli: string;
  #agentRuns = false;

  constructor(repository: string, { minutes, quick }: { minutes: number; quick: boolean }) {
    this.repository = repository;
    this.minutes = minutes;
    this.quick = quick;
    cpSync(resolve(repository, 'dist'), this.sandbox.path('dist'), { recursive: true });
    this.cli = this.sandbox.path('dist/cli.js');
  }

  get commandOptions(): { env: NodeJS.ProcessEnv; cwd: string } {
    return { env: this.sandbox.env, cwd: this.sandbox.path('work') };
  }

  /** A claude with servers below it; the restless ones come first, to be on the first screen. */
  async agent(): Promise<void> {
    if (this.#agentRuns) return;
    this.#agentRuns = true;
    const fidget = this.sandbox.write('bin/restless', restless(this.#flag), 0o755);
    const servers = RELATED - 2 - RESTLESS; // besides claude itself and its own sleep
    await startAgent(this.sandbox, {
      children: [
        ...Array.from({ length: RESTLESS }, () => `'${fidget}'`),
        ...Array.from(
          { length: servers },
          (_, index) => `'${this.sandbox.sleeper(`mcp-server-${index}`)}' 3600`,
        ),
      ],
    });
  }

  /** Whether rows change from now on. */
  stir(on: boolean): void {
    if (on) writeFileSync(this.#flag, '');
    else rmSync(this.#flag, { force: true });
  }

  get #flag(): string {
    return this.sandbox.path('stir');
  }

  async close(): Promise<void> {
    await this.crowd.close();
    await this.sandbox.close();
  }
}
