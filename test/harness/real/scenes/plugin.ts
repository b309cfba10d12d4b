import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { dirname } from 'node:path';
import { until } from '../../../support/until.ts';
import { CLI } from '../product.ts';
import { AGENTS, AgentSession, agentHome } from '../stage/agents.ts';
import { bash, ClaudeSession, claudeHome } from '../stage/claude.ts';
import type { Scene } from '../stage/scene.ts';
import type { Stage } from '../stage/stage.ts';
import { below, everybody } from '../stage/table.ts';
import { PATIENCE } from '../stage/terminal.ts';
import { NEEDS } from './claude-killed.ts';

const STATE = '.local/state/reaptop';

const reaptop = (stage: Stage, ...args: string[]): void => {
  const { status, stderr } = spawnSync(process.execPath, [CLI, ...args], {
    env: stage.env,
    cwd: stage.path('work'),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`reaptop ${args.join(' ')}: ${stderr}`);
};

/** Every prompt and every tool is one turn, however the plugin is loaded. */
const countsOnce = async (stage: Stage, claude: ClaudeSession, name: string): Promise<void> => {
  const path = stage.path(STATE, `sessions/${claude.id}.json`);
  const turns = (): number =>
    (JSON.parse(readFileSync(path, 'utf8')) as { turns: Record<string, number> }).turns[''] ?? 0;
  await until('the session to be known to the hooks', () => existsSync(path), PATIENCE);
  await claude.play(name, bash('echo one'), bash('echo two'), bash('echo three'));
  await claude.atPrompt();
  // The hook at the turn's end counts what was left to it.
  await until('one prompt and three tools to be counted', () => turns() === 4, PATIENCE);
};

/** `--mine` from its Bash tool: its shell in the background and what that runs, and nothing of the other. */
const showsItsOwn = async (stage: Stage, claude: ClaudeSession): Promise<void> => {
  await claude.play('behind', bash('sleep 3201', true));
  await stage.seen('the job of its shell', seen => seen.command === 'sleep 3201');
  await claude.play('mine', bash('reaptop --once --mine --json > mine.json'));
  const { mine, processes } = JSON.parse(readFileSync(stage.path('work/mine.json'), 'utf8')) as {
    mine: { pid: number };
    processes: { pid: number }[];
  };
  await claude.atPrompt();
  await stage.settled();
  // A hook of ours may have run beside it.
  const lasting = new Set(everybody().map(({ pid }) => pid));
  const inOrder = (pids: readonly { readonly pid: number }[]): number[] =>
    pids
      .map(({ pid }) => pid)
      .filter(pid => lasting.has(pid))
      .sort((a, b) => a - b);
  const [shown, real] = [inOrder(processes), inOrder(below(claude.pid))];
  if (mine.pid !== claude.pid || shown.join() !== real.join())
    throw new Error(`--mine shows ${shown.join()} and not ${real.join()}`);
};

/** A kill by name that would hit the other session is asked about, although all permissions are granted. */
const asksBeforeBroadKill = async (stage: Stage, one: ClaudeSession, two: ClaudeSession): Promise<void> => {
  await two.play('theirs', bash('sleep 3202', true));
  const theirs = await stage.seen('the job of the other', seen => seen.command === 'sleep 3202');
  one.say(stage.standIn.scripts.write('kill', [bash('pkill -f "sleep 3202"')]));
  await one.terminal!.shows(/reaptop: "pkill -f sleep 3202"/);
  one.terminal!.keys('Escape');
  await one.atPrompt();
  if (!everybody().some(({ pid }) => pid === theirs.pid)) throw new Error('the job of the other was ended');
};

const plugin: Scene = {
  name: 'claude-plugin',
  about: 'the plugin from the skills directory and by --plugin-dir: events count once, --mine, a broad kill',
  needs: NEEDS,
  play: async stage => {
    claudeHome(stage);
    reaptop(stage, 'plugin', 'install');
    const one = await ClaudeSession.open(stage, 'one');
    one.terminal!.type('/reaptop:proc');
    await one.terminal!.shows('reaptop:processes');
    one.terminal!.keys('C-u');
    await countsOnce(stage, one, 'counted');
    await showsItsOwn(stage, one);
    reaptop(stage, 'plugin', 'uninstall');
    if (existsSync(stage.path('.claude/skills'))) throw new Error('the plugin left something');
    const two = await ClaudeSession.open(stage, 'two', `--plugin-dir ${dirname(CLI)}`);
    await countsOnce(stage, two, 'counted-again');
    reaptop(stage, 'plugin', 'install');
    const three = await ClaudeSession.open(stage, 'three');
    await asksBeforeBroadKill(stage, three, two);
    await stage.settled();
  },
};

/** Codex names no process and lists no sessions: only what its hooks saw below it is proven. */
const codexHooks: Scene = {
  name: 'codex-hooks',
  about: '`codex exec` with our hooks, killed -9: its shell is proven by lineage',
  needs: ['@openai/codex', '@modelcontextprotocol/server-memory', 'tmux'],
  play: async stage => {
    agentHome(stage, 'codex');
    reaptop(stage, 'hook', 'install', '--codex');
    const cue = stage.standIn.scripts.write('run', [
      // It ends its shells with itself, not what left their session.
      AGENTS.codex.shell('setsid sleep 3301 & wait'),
      // It calls no hook for a command that runs on: the next one sees it.
      AGENTS.codex.shell('echo hi'),
      { hold: new Promise(() => {}) },
    ]);
    const session = await AgentSession.run(
      stage,
      'codex',
      `codex exec --dangerously-bypass-hook-trust --skip-git-repo-check ${cue} </dev/null`,
    );
    const job = await stage.seen('its job', seen => seen.command === 'sleep 3301');
    const written = (): string =>
      existsSync(stage.path(STATE, 'lineage.d'))
        ? readdirSync(stage.path(STATE, 'lineage.d'))
            .map(name => readFileSync(stage.path(STATE, 'lineage.d', name), 'utf8'))
            .join('')
        : '';
    await until('its job to be written down', () => written().includes(`"pid":${job.pid},`), PATIENCE);
    for (const seen of new Set([...(await session.killed()), ...stage.left([job])]))
      stage.is(seen, { what: 'left by the killed codex', verdict: 'leak', owner: 'dead' });
  },
};

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** Milliseconds from the model's answer to the request with the results, for each answer of a script. */
const turnsOf = (stage: Stage, name: string): readonly number[] => {
  const times = stage.standIn.scripts.heard.filter(heard => heard.name === name).map(({ at }) => at);
  return times.slice(1).map((at, index) => at - times[index]!);
};

const ANSWERS = 12;
const ROUNDS = 3;
const call = bash('true');
const KINDS = [
  ['a tool call', call],
  ['five at once', { all: [call, call, call, call, call] }],
] as const;

/** A figure, not a limit: it depends on what else the machine does. */
const hookCost: Scene = {
  name: 'claude-hook-cost',
  about: 'how long tool calls take with the plugin, beside a session without hooks',
  needs: NEEDS,
  play: async stage => {
    claudeHome(stage);
    const without = await ClaudeSession.open(stage, 'without');
    const with_ = await ClaudeSession.open(stage, 'with', `--plugin-dir ${dirname(CLI)}`);
    await countsOnce(stage, with_, 'counted');
    for (const [index, [what, step]] of KINDS.entries()) {
      const measured = async (claude: ClaudeSession, side: string): Promise<readonly number[]> => {
        const name = `cost-${index}-${side}`;
        await claude.play(name, ...Array.from({ length: ANSWERS }, () => step));
        await claude.atPrompt();
        return turnsOf(stage, name);
      };
      const bare: number[] = [];
      const hooked: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        bare.push(...(await measured(without, `bare-${round}`)));
        hooked.push(...(await measured(with_, `hooked-${round}`)));
      }
      const [before, after] = [median(bare), median(hooked)];
      stage.notes.push(
        `${what}: ${before.toFixed(0)} to ${after.toFixed(0)} ms, ${(after / before).toFixed(2)} × ` +
          `(${bare.length} answers each, load ${loadavg()[0]!.toFixed(1)})`,
      );
    }
    await stage.settled();
  },
};

export const PLUGIN = [plugin, hookCost, codexHooks];
