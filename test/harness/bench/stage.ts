import { cpSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { slugOf } from '../../../src/observe/files/transcripts.ts';
import { callLines } from '../../fixtures/call-lines.ts';
import { startAgent } from '../../support/agent.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';
import { Crowd } from './crowd.ts';
import { type CommandOptions, pause } from './measure.ts';
import { BenchTerminal, WIDE } from './terminal.ts';

/** How many processes concern an agent in the measurements that want some: a claude and what it started. */
const RELATED = 50;

/** A screen leaves its code cache when it has been there for a second and a half. */
const CACHE_MS = 3000;

const { claude } = callLines;

/** Of the user whose machine it is. */
const SESSIONS = 5;
const TRANSCRIPT_LINES = 500;

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
    const { NODE_EXTRA_CA_CERTS: _, NODE_OPTIONS: __, ...env } = this.sandbox.env;
    // Theirs and ours are to run in one and the same Node.
    const PATH = `${dirname(process.execPath)}:${env.PATH}`;
    return { env: { ...env, PATH }, cwd: this.sandbox.path('work') };
  }

  /** The machine of somebody who works with agents: tmux, a config, Claude's large file, sessions with transcripts. */
  async user(): Promise<void> {
    const { sandbox } = this;
    const { cwd } = this.commandOptions;
    sandbox.write('home/.config/reaptop/config.json', JSON.stringify({ level: 2, interval: 2 }));
    const projects = Object.fromEntries(
      Array.from({ length: 400 }, (_, n) => [
        `/home/somebody/projects/${n}`,
        {
          allowedTools: [],
          history: Array.from({ length: 20 }, (__, at) => ({ display: `${at} `.repeat(50) })),
        },
      ]),
    );
    sandbox.write('home/.claude.json', JSON.stringify({ mcpServers: {}, projects }));
    sandbox.tmux('new-session', '-d', '-s', 'bench', 'sleep 3600');
    for (let n = 0; n < SESSIONS; n += 1) {
      const { session } = await startAgent(sandbox, { cwd });
      const turns = Array.from({ length: TRANSCRIPT_LINES / 2 }, (_, at) =>
        [claude.call(`t${at}`, 'Bash'), claude.result(`t${at}`)]
          .map(line => `${JSON.stringify(line)}\n`)
          .join(''),
      );
      sandbox.write(`home/.claude/projects/${slugOf(cwd).slug}/${session}.jsonl`, turns.join(''));
    }
  }

  /** Nobody uses it: the sessions and the tmux server end, what they wrote goes. */
  async bare(): Promise<void> {
    for (const { pid } of this.sandbox.running()) if (pid !== process.pid) process.kill(pid, 'SIGKILL');
    await until('everybody to leave', () => this.sandbox.running().length === 0);
    for (const path of ['home/.config', 'home/.claude.json', 'home/.claude'])
      rmSync(this.sandbox.path(path), { recursive: true, force: true });
    this.#agentRuns = false;
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

  /** An earlier screen left its code cache: only a row that says so is about a first run. */
  async earlierScreen(): Promise<void> {
    const caches = this.sandbox.path('home/.cache/reaptop');
    if (existsSync(caches) && readdirSync(caches).some(name => name.startsWith('screen-'))) return;
    await this.agent();
    const terminal = new BenchTerminal(this.cli, [], { ...this.commandOptions, size: WIDE });
    await terminal.wrote('mcp-server-');
    await pause(CACHE_MS);
    await terminal.quit();
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
