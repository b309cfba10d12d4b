import { until } from '../../../support/until.ts';
import { look, reaptop } from '../product.ts';
import { AGENTS, type AgentName, AgentSession, agentHome } from '../stage/agents.ts';
import { bash, ClaudeSession, claudeHome, claudes, MCP } from '../stage/claude.ts';
import type { Scene } from '../stage/scene.ts';
import type { Stage } from '../stage/stage.ts';
import { everybody, stillRuns } from '../stage/table.ts';
import { PATIENCE } from '../stage/terminal.ts';
import { NEEDS } from './claude-killed.ts';

const check = (what: string, holds: boolean): void => {
  if (!holds) throw new Error(`not so: ${what}`);
};

interface Line {
  readonly state: string;
  readonly id: string;
  readonly bytes: number;
  readonly pid: number | null;
}
const sessions = async (stage: Stage): Promise<readonly Line[]> =>
  (JSON.parse((await reaptop(stage, 'sessions', '--json')).stdout) as { sessions: Line[] }).sessions;
const stateOf = async (stage: Stage, id: string): Promise<string | undefined> =>
  (await sessions(stage)).find(one => one.id === id)?.state;

/** Everything that was below a session has ended with it. */
const asleep = async (stage: Stage, which: string): Promise<string> => {
  const { stdout } = await reaptop(stage, 'sleep', which, '--force');
  stage.notes.push(stdout.trim().split('\n').at(-2) ?? '');
  return stdout;
};

const slept: Scene = {
  name: 'claude-asleep',
  about: 'claude with servers is put to sleep, and comes back in its old pane with its conversation',
  needs: NEEDS,
  play: async stage => {
    claudeHome(stage, { memory: MCP.memory });
    const claude = await ClaudeSession.open(stage, 'one');
    await claude.play('quince', bash('echo the-word-is-quince'));
    await claude.atPrompt();
    const { id } = claude;
    const tree = [claude.seen, ...claude.below()];
    check('it has a server', tree.length > 1);
    const told = await asleep(stage, id);
    check(
      `it ended: ${told}`,
      tree.every(seen => !stillRuns(seen)),
    );
    check('it is listed as asleep', (await stateOf(stage, id)) === 'asleep');
    check(
      'its memory is told',
      (await sessions(stage)).every(({ bytes }) => bytes > 100 * 1024 ** 2),
    );
    const awake = await reaptop(stage, 'wake', id.slice(0, 8), '--run');
    check(`it is where it was: ${awake.stdout}${awake.stderr}`, awake.stdout.includes('where it was'));
    const back = await ClaudeSession.find(stage, claude.terminal!.pid);
    await back.atPrompt();
    await claude.terminal!.shows('play:quince');
    check('it has the same session', back.id === id);
    check('it kept its flags', back.seen.command.includes('--dangerously-skip-permissions'));
    await until('it to be running', async () => (await stateOf(stage, id)) === 'running', PATIENCE);
    const again = new ClaudeSession(stage, back.seen, claude.terminal);
    await again.play('after', bash('echo after', false));
    await again.atPrompt();
    const server = await stage.child(back.pid, /mcp-server-memory/);
    const owner = (await look(stage)).processes.find(p => p.pid === server.pid)?.owner;
    check('its server is its own', owner?.pid === back.pid);
  },
};

const awake: Scene = {
  name: 'claude-stays-awake',
  about: 'claude at work, with a shell in the background or at a question is left alone by sleep',
  needs: NEEDS,
  play: async stage => {
    claudeHome(stage);
    const shell = await ClaudeSession.open(stage, 'shell');
    await shell.play('back', bash('sleep 3021', true));
    await shell.atPrompt();
    const works = await ClaudeSession.open(stage, 'works');
    works.say(stage.standIn.scripts.write('work', [bash('node -e "setTimeout(() => {}, 300000)"')]));
    await stage.seen('its command', seen => seen.command.startsWith('node -e setTimeout'));
    const asks = await ClaudeSession.asking(stage, 'asks');
    asks.say(stage.standIn.scripts.write('ask', [bash('touch /tmp/x')]));
    await until(
      'the question',
      async () => (await look(stage)).processes.find(p => p.pid === asks.pid)?.session?.doing === 'waiting',
      PATIENCE,
    );
    const { stdout } = await reaptop(stage, 'sleep', '--idle', '0s', '--force');
    stage.notes.push(...stdout.trim().split('\n'));
    for (const one of [shell, works, asks]) check(`${one.pid} lives: ${stdout}`, one.running);
  },
};

const byHand: Scene = {
  name: 'claude-asleep-continued',
  about: 'claude is put to sleep, and its user continues it by hand: it leaves the list by itself',
  needs: NEEDS,
  play: async stage => {
    claudeHome(stage);
    const claude = await ClaudeSession.open(stage, 'one');
    await claude.play('quince', bash('echo the-word-is-quince'));
    await claude.atPrompt();
    const { id } = claude;
    await asleep(stage, id);
    check('it ended', !claude.running);
    const again = await ClaudeSession.startIn(stage, claude.terminal!, '--continue');
    check('it is the same session', again.id === id);
    check('it is listed as running', (await stateOf(stage, id)) === 'running');
  },
};

const lost: Scene = {
  name: 'claude-lost',
  about: 'claude is killed -9: it is listed as lost, and comes back',
  needs: NEEDS,
  play: async stage => {
    claudeHome(stage);
    const claude = await ClaudeSession.open(stage, 'one');
    await claude.play('quince', bash('echo the-word-is-quince'));
    await claude.atPrompt();
    const { id } = claude;
    await sessions(stage);
    await claude.killed();
    check('it is lost', (await stateOf(stage, id)) === 'lost');
    await reaptop(stage, 'wake', id, '--run');
    const back = await ClaudeSession.find(stage, claude.terminal!.pid);
    await back.atPrompt();
    check('it has the same session', back.id === id);
    check('one claude runs', claudes().length === 1);
  },
};

/** The plan, or a reason against it that stays. */
const planFor = (stage: Stage, session: AgentSession): Promise<string> =>
  until(
    'the plan, or a reason against it that stays',
    async () => {
      const { stdout } = await reaptop(stage, 'sleep', String(session.pid));
      return /it works|turn is not over|works is not known/.test(stdout) ? null : stdout;
    },
    PATIENCE,
  );

const scene = (name: AgentName, about: string, play: (stage: Stage, one: AgentSession) => Promise<void>) => ({
  name: `${name}-asleep`,
  about: `${name} ${about}`,
  needs: [...AGENTS[name].needs, '@modelcontextprotocol/server-memory', 'tmux'] as const,
  play: async (stage: Stage) => {
    agentHome(stage, name);
    const session = await AgentSession.open(stage, name);
    await session.play('quince', 'echo the-word-is-quince');
    await play(stage, session);
  },
});

const comesBack = (name: AgentName): Scene =>
  scene(name, 'is put to sleep and comes back in its old pane', async (stage, session) => {
    const plan = await planFor(stage, session);
    stage.notes.push(...plan.trim().split('\n'));
    const kept = {
      what: 'the daemon of codex',
      verdict: 'protected',
      kind: 'agent',
      below: ['live'],
    } as const;
    for (const seen of everybody()) if (/codex app-server/.test(seen.command)) stage.is(seen, kept);
    // Copilot starts helpers now and then, and is left alone while one runs.
    await until(
      'it to sleep',
      async () => {
        await asleep(stage, String(session.pid));
        return !stillRuns(session.seen);
      },
      PATIENCE,
    );
    const { terminal } = session;
    const id = (await sessions(stage)).find(({ state }) => state === 'asleep')?.id ?? '';
    const { stdout } = await reaptop(stage, 'wake', id, '--run');
    stage.notes.push(stdout.trim());
    await terminal.shows('play:quince');
    await stage.settled();
    for (const seen of everybody()) {
      const kind = /^node /.test(seen.command) ? 'wrapper' : 'agent';
      if (AGENTS[name].program.test(seen.command))
        stage.is(seen, { what: `${name} again`, verdict: 'live', kind });
    }
  });

const staysAwake = (name: AgentName, why: string): Scene =>
  scene(name, 'is never put to sleep: it records too little', async (stage, session) => {
    const plan = await planFor(stage, session);
    check(`the plan says why: ${plan}`, plan.includes(why));
    await reaptop(stage, 'sleep', String(session.pid), '--force');
    check('it lives', stillRuns(session.seen));
  });

export const SLEEP_SCENES = [
  slept,
  awake,
  byHand,
  lost,
  comesBack('codex'),
  comesBack('copilot'),
  staysAwake('gemini', 'Gemini does not record when a turn ends'),
  staysAwake('opencode', 'OpenCode prints how to resume a session only as it ends'),
];
