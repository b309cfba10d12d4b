import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { startAgent } from '../../support/agent.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { Crowd } from './crowd.ts';
import type { CommandOptions } from './measure.ts';

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
  /** A copy: somebody may build while we measure. Started by its name, as npm installs it. */
  readonly cli: string;
  #agentRuns = false;

  constructor(repository: string, { minutes, quick }: { minutes: number; quick: boolean }) {
    this.repository = repository;
    this.minutes = minutes;
    this.quick = quick;
    cpSync(resolve(repository, 'dist'), this.sandbox.path('dist'), { recursive: true });
    this.cli = this.sandbox.path('dist/cli.js');
  }

  get commandOptions(): CommandOptions {
    const { env } = this.sandbox;
    // Theirs and ours are to run in one and the same Node.
    const PATH = `${dirname(process.execPath)}:${env.PATH}`;
    return { env: { ...env, PATH }, cwd: this.sandbox.path('work') };
  }

  /** The same where no certificates are named: Node reads them before anything else, whether it is asked for any or not. */
  get withoutCertificates(): CommandOptions {
    const { env, cwd } = this.commandOptions;
    return { env: { ...env, NODE_EXTRA_CA_CERTS: '' }, cwd };
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
