import { cpSync } from 'node:fs';
import { resolve } from 'node:path';
import { startAgent } from '../support/agent.ts';
import { Sandbox } from '../support/sandbox.ts';
import { Crowd } from './crowd.ts';

/** How many processes concern an agent in the measurements that want some: a claude and what it started. */
const RELATED = 50;

/** Where every section is measured: a private home, a copy of the program, a crowd, an agent. */
export class Stage {
  readonly sandbox = new Sandbox();
  readonly crowd = new Crowd();
  readonly minutes: number;
  /** A copy: somebody may build while we measure. */
  readonly cli: string;
  #agentRuns = false;

  constructor(repository: string, minutes: number) {
    this.minutes = minutes;
    cpSync(resolve(repository, 'dist'), this.sandbox.path('dist'), { recursive: true });
    this.cli = this.sandbox.path('dist/cli.js');
  }

  get commandOptions(): { env: NodeJS.ProcessEnv; cwd: string } {
    return { env: this.sandbox.env, cwd: this.sandbox.path('work') };
  }

  /** A claude with servers below it; `changing` of them look different at every refresh. */
  async agent(changing = 0): Promise<void> {
    if (this.#agentRuns) return;
    this.#agentRuns = true;
    const servers = RELATED - 2 - changing; // besides claude itself and its own sleep
    await startAgent(this.sandbox, {
      children: Array.from(
        { length: servers },
        (_, index) => `'${this.sandbox.sleeper(`mcp-server-${index}`)}' 3600`,
      ),
    });
  }

  async close(): Promise<void> {
    await this.crowd.close();
    await this.sandbox.close();
  }
}

export type Say = (line: string) => void;
