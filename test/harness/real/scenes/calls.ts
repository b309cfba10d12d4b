import { Pty } from '../../../support/pty.ts';
import { until } from '../../../support/until.ts';
import { CLI, look } from '../product.ts';
import { AGENTS, type AgentName, AgentSession, agentHome } from '../stage/agents.ts';
import { bash, ClaudeSession, claudeHome } from '../stage/claude.ts';
import type { Scene } from '../stage/scene.ts';
import type { Stage } from '../stage/stage.ts';
import { everybody, type Seen, stillRuns } from '../stage/table.ts';
import { PATIENCE } from '../stage/terminal.ts';
import type { Step, ToolCall } from '../stand-in/script.ts';
import { NEEDS } from './claude-killed.ts';

/** A server whose tools hang, are late, die or work; see the program itself. */
const SERVER = { command: 'node', args: ['/srv/reaptop/test/fixtures/programs/hanging-mcp.mjs', '4000'] };
const IS_SERVER = /hanging-mcp\.mjs/;

const lean = (tool: string): ToolCall => ({ tool: `mcp__lean-lsp__${tool}`, input: {} });
const NEVER = lean('lean_diagnostic_messages');
const LATE = lean('lean_goal');

/** Claude refuses to sleep for long in the foreground. */
const IDLE_COMMAND = 'node -e "setTimeout(() => {}, 300000)"';

/** Limits of seconds instead of minutes. */
const impatient = (stage: Stage): void => {
  const limits = { warnSeconds: 2, criticalSeconds: 4, tools: { lean_diagnostic_messages: 2, lean_goal: 2 } };
  stage.write('.config/reaptop/config.json', { thresholds: { 'call-hung': limits } });
};

/** What the product says of the session of this process. */
const told = async (stage: Stage, pid: number) => {
  const { processes, findings } = await look(stage);
  const session = processes.find(p => p.pid === pid)?.session ?? null;
  return { session, hung: findings.filter(({ id }) => id === 'call-hung' || id === 'session-hung') };
};

const check = (what: string, is: unknown): void => {
  if (is !== true) throw new Error(`${what}: ${JSON.stringify(is)}`);
};

/** Waits until its log names these tools as pending. */
const pending = async (stage: Stage, pid: number, ...tools: readonly string[]): Promise<void> => {
  let last: unknown = null;
  await until(
    `${tools.join(', ') || 'no call'} to be pending`,
    async () => {
      last = (await told(stage, pid)).session?.calls.map(({ tool }) => tool);
      return JSON.stringify(last) === JSON.stringify(tools);
    },
    PATIENCE,
  ).catch(error => {
    throw new Error(`${(error as Error).message}; it was ${JSON.stringify(last)}`);
  });
};

const calling = async (
  stage: Stage,
  ...steps: readonly Step[]
): Promise<{ claude: ClaudeSession; server: Seen }> => {
  claudeHome(stage, { 'lean-lsp': SERVER });
  const claude = await ClaudeSession.open(stage, 'one');
  const server = await stage.child(claude.pid, IS_SERVER);
  stage.is(server, { what: 'its server', verdict: 'live', kind: 'mcp', owner: claude.pid });
  claude.say(stage.standIn.scripts.write('call', steps));
  return { claude, server };
};

/** Opens the screen, asks for the fix of the hung call, and carries it out. */
const fixed = async (stage: Stage, way: 'end' | 'interrupt'): Promise<void> => {
  const pty = new Pty(stage, {
    columns: 140,
    rows: 45,
    command: [process.execPath, CLI, '--interval', '0.5'],
    cwd: stage.path('work'),
  });
  await pty.shows(/hung: /);
  await pty.select('hanging-mcp');
  pty.press('f');
  await pty.shows('Fix call-hung');
  if (way === 'interrupt') {
    pty.press('\t');
    await pty.shows('Escape to claude');
  }
  await pty.confirm();
  await pty.shows('Done', 'the call is over');
  pty.press('\u001b');
  await pty.hides('Done');
  pty.press('q');
  await pty.exit();
};

const hung: Scene = {
  name: 'claude-call-hung',
  about: 'a call that never comes back: named, joined to its server, and found',
  needs: NEEDS,
  play: async stage => {
    impatient(stage);
    const { claude, server } = await calling(stage, NEVER);
    await pending(stage, claude.pid, 'lean_diagnostic_messages');
    const found = await until(
      'the finding',
      async () => {
        const now = await told(stage, claude.pid);
        return now.hung.length > 0 ? now : null;
      },
      PATIENCE,
    );
    check('the process of the call', found.session?.calls[0]?.pid === server.pid);
    check('one finding', found.hung.length === 1);
    stage.findings.add('call-hung');
  },
};

const freed: Scene = {
  name: 'claude-call-freed',
  about: 'its server is ended with f: the call fails, the agent goes on, nothing else ends',
  needs: NEEDS,
  play: async stage => {
    impatient(stage);
    const { claude, server } = await calling(stage, NEVER, bash('echo it goes on'));
    await pending(stage, claude.pid, 'lean_diagnostic_messages');
    await fixed(stage, 'end');
    check('the server has ended', !stillRuns(server));
    check('the session lives', claude.running);
    await until('the model to go on', () => stage.standIn.scripts.finished('call'), PATIENCE);
    await pending(stage, claude.pid);
  },
};

const interrupted: Scene = {
  name: 'claude-call-interrupted',
  about: 'it is interrupted in its pane with f and tab: the server lives, the session is at its prompt',
  needs: NEEDS,
  play: async stage => {
    impatient(stage);
    const { claude, server } = await calling(stage, NEVER);
    await pending(stage, claude.pid, 'lean_diagnostic_messages');
    await fixed(stage, 'interrupt');
    check('the server lives', stillRuns(server));
    check('the session lives', claude.running);
    await claude.atPrompt();
    await pending(stage, claude.pid);
  },
};

const late: Scene = {
  name: 'claude-call-late',
  about: 'a call that takes its time, one whose server dies, and several at once: shown, and no alarm',
  needs: NEEDS,
  play: async stage => {
    const { claude } = await calling(stage, LATE, bash('sleep 2'), {
      all: [LATE, bash('sleep 5')],
    });
    await pending(stage, claude.pid, 'lean_goal');
    check('no alarm', (await told(stage, claude.pid)).hung.length === 0);
    await pending(stage, claude.pid, 'lean_goal', 'Bash');
    await until('the model to finish', () => stage.standIn.scripts.finished('call'), PATIENCE);
    await claude.atPrompt();
    await pending(stage, claude.pid);
  },
};

const dies: Scene = {
  name: 'claude-call-dies',
  about: 'a server that dies in the call: the call is over, and nothing hangs',
  needs: NEEDS,
  play: async stage => {
    impatient(stage);
    const { claude } = await calling(stage, lean('lean_hover_info'));
    await until('the model to finish', () => stage.standIn.scripts.finished('call'), PATIENCE);
    await claude.atPrompt();
    await pending(stage, claude.pid);
  },
};

const subagent: Scene = {
  name: 'claude-call-subagent',
  about: 'a call of a subagent that never comes back',
  needs: NEEDS,
  play: async stage => {
    impatient(stage);
    stage.standIn.scripts.write('sub', [NEVER]);
    const { claude } = await calling(stage, {
      tool: 'Agent',
      input: { description: 'sub', prompt: 'play:sub', subagent_type: 'general-purpose' },
    });
    await pending(stage, claude.pid, 'lean_diagnostic_messages');
    check('it is called a subagent', (await told(stage, claude.pid)).session?.calls[0]?.subagent === true);
    stage.findings.add('call-hung');
  },
};

const permission: Scene = {
  name: 'claude-call-permission',
  about: 'a call that waits for its user is not hung',
  needs: NEEDS,
  play: async stage => {
    impatient(stage);
    claudeHome(stage, { 'lean-lsp': SERVER });
    const claude = await ClaudeSession.asking(stage, 'one');
    claude.say(stage.standIn.scripts.write('call', [NEVER]));
    const session = await until(
      'the question',
      async () => {
        const now = await told(stage, claude.pid);
        return now.session?.doing === 'waiting' ? now.session : null;
      },
      PATIENCE,
    );
    stage.notes.push(`asked for ${JSON.stringify(session.calls.map(({ tool }) => tool))}`);
    await new Promise(done => setTimeout(done, 5000)); // longer than every limit: there is nothing to wait for
    check('no alarm', (await told(stage, claude.pid)).hung.length === 0);
  },
};

const commands: Scene = {
  name: 'claude-call-commands',
  about: 'Bash in the foreground is a call with a shell, in the background it is none',
  needs: NEEDS,
  play: async stage => {
    impatient(stage);
    const { claude } = await calling(stage, bash('sleep 3013', true), bash(IDLE_COMMAND));
    const shell = await stage.seen('the command', seen => seen.command.startsWith('node -e setTimeout'));
    const findings = await until(
      'the call with its shell',
      async () => {
        const { session, hung: found } = await told(stage, claude.pid);
        const [call, ...more] = session?.calls ?? [];
        return call?.tool === 'Bash' && call.pid === shell.ppid && more.length === 0 ? found : null;
      },
      PATIENCE,
    );
    check('no alarm', findings.length === 0);
  },
};

const CALLS = {
  codex: { tool: 'lean_diagnostic_messages', namespace: 'mcp__lean_lsp', input: {} },
  copilot: { tool: 'lean-lsp-lean_diagnostic_messages', input: {} },
} as const satisfies Partial<Record<AgentName, ToolCall>>;

const other = (name: keyof typeof CALLS): Scene => ({
  name: `${name}-call-hung`,
  about: `${name} waits for a call that never comes back: named and found`,
  needs: [...AGENTS[name].needs, '@modelcontextprotocol/server-memory', 'tmux'],
  play: async stage => {
    impatient(stage);
    // Only by its own name can the server be told from the other one: nobody reads their configurations.
    const named = stage.write('lean-lsp-mcp.mjs', `import '${SERVER.args[0]}';\n`);
    agentHome(stage, name, { 'lean-lsp': { command: 'node', args: [named] } });
    const session = await AgentSession.open(stage, name);
    await session.say(stage.standIn.scripts.write('call', [CALLS[name]]));
    await pending(stage, session.pid, 'lean_diagnostic_messages');
    const server = await stage.seen('its server', seen => /lean-lsp-mcp/.test(seen.command));
    const now = await until(
      'the finding',
      async () => {
        const found = await told(stage, session.pid);
        return found.hung.length > 0 ? found : null;
      },
      PATIENCE,
    );
    check('the process of the call', now.session?.calls[0]?.pid === server.pid);
    check(
      'a warning at most',
      now.hung.every(({ severity }) => severity === 'warn'),
    );
    stage.findings.add('call-hung');
    const kept = {
      what: 'the daemon of codex',
      verdict: 'protected',
      kind: 'agent',
      below: ['live'],
    } as const;
    for (const seen of everybody()) if (/codex app-server/.test(seen.command)) stage.is(seen, kept);
    // Copilot reaps its own helper late.
    await until(
      'no zombie',
      async () => !(await look(stage)).findings.some(({ id }) => id === 'zombie'),
      PATIENCE,
    );
  },
});

export const CALL_SCENES = [
  hung,
  freed,
  interrupted,
  late,
  dies,
  subagent,
  permission,
  commands,
  other('codex'),
  other('copilot'),
];
