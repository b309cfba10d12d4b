import { until } from '../../../support/until.ts';
import type { Need } from '../packages.ts';
import type { ToolCall } from '../stand-in/script.ts';
import type { Stage } from './stage.ts';
import { below, lasting, type Seen, stillRuns } from './table.ts';
import { PATIENCE, type TmuxTerminal } from './terminal.ts';

/** MCP servers over stdio, by name. */
export type Servers = Readonly<
  Record<string, { readonly command: string; readonly args: readonly string[] }>
>;

/** How an agent besides Claude is made to work: all of them do so with an invented key and a model of their user's. */
interface Agent {
  readonly needs: readonly Need[];
  /** Writes what somebody who has used it before has in their home. */
  readonly home: (stage: Stage, servers: Servers) => void;
  readonly env: (stage: Stage) => Readonly<Record<string, string>>;
  readonly command: string;
  /** On its screen when it listens. */
  readonly ready: string | RegExp;
  /** Its process and its launcher, which waits for it. */
  readonly program: RegExp;
  /** The call of the tool that runs a command. */
  readonly shell: (command: string) => ToolCall;
}

const MEMORY = { command: 'mcp-server-memory', args: [] } as const;

const bash = (command: string): ToolCall => ({ tool: 'bash', input: { command, description: 'work' } });

const CODEX_CONFIG = (stage: Stage, servers: Servers): string => `
model = "invented"
model_provider = "stand-in"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.stand-in]
name = "stand-in"
base_url = "${stage.standIn.url}/v1"
wire_api = "responses"
${Object.entries(servers)
  .map(
    ([name, { command, args }]) =>
      `[mcp_servers.${name}]\ncommand = "${command}"\nargs = ${JSON.stringify(args)}`,
  )
  .join('\n')}
[projects."${stage.path('work')}"]
trust_level = "trusted"
`;

const OPENCODE_CONFIG = (stage: Stage, servers: Servers): object => ({
  autoupdate: false,
  share: 'disabled',
  model: 'stand-in/invented',
  small_model: 'stand-in/invented',
  permission: { '*': 'allow' },
  provider: {
    'stand-in': {
      npm: '@ai-sdk/anthropic',
      name: 'stand-in',
      options: { baseURL: `${stage.standIn.url}/v1`, apiKey: 'invented' },
      models: { invented: { name: 'invented', tool_call: true, limit: { context: 100_000, output: 8_000 } } },
    },
  },
  mcp: Object.fromEntries(
    Object.entries(servers).map(([name, { command, args }]) => [
      name,
      { type: 'local', command: [command, ...args], enabled: true },
    ]),
  ),
});

export const AGENTS = {
  codex: {
    needs: ['@openai/codex'],
    home: (stage, servers) => stage.write('.codex/config.toml', CODEX_CONFIG(stage, servers)),
    env: () => ({}),
    command: 'codex',
    ready: 'Ask Codex',
    program: /\bcodex(?!.*app-server)( |$)/,
    shell: command => ({ tool: 'exec_command', input: { cmd: command, yield_time_ms: 1000 } }),
  },
  gemini: {
    needs: ['@google/gemini-cli'],
    home: (stage, servers) => {
      stage.write('.gemini/settings.json', {
        security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
        general: { disableAutoUpdate: true, disableUpdateNag: true },
        privacy: { usageStatisticsEnabled: false },
        mcpServers: servers,
      });
    },
    env: stage => ({ GEMINI_API_KEY: 'invented', GOOGLE_GEMINI_BASE_URL: stage.standIn.url }),
    command: 'gemini --yolo --model gemini-2.5-pro',
    ready: 'Type your message',
    program: /\bgemini( |$)/,
    shell: command => ({ tool: 'run_shell_command', input: { command, description: 'work' } }),
  },
  opencode: {
    needs: ['opencode-ai'],
    home: (stage, servers) => stage.write('.config/opencode/opencode.json', OPENCODE_CONFIG(stage, servers)),
    env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: '1' }),
    command: 'opencode',
    ready: /1 MCP/,
    program: /\bopencode( |$)/,
    shell: bash,
  },
  copilot: {
    needs: ['@github/copilot'],
    home: (stage, servers) => {
      stage.write('.copilot/mcp-config.json', {
        mcpServers: Object.fromEntries(
          Object.entries(servers).map(([name, server]) => [name, { type: 'local', ...server, tools: ['*'] }]),
        ),
      });
      stage.write('.copilot/config.json', { trusted_folders: [stage.path('work')], banner: 'never' });
    },
    env: stage => ({
      COPILOT_PROVIDER_BASE_URL: stage.standIn.url,
      COPILOT_PROVIDER_TYPE: 'anthropic',
      COPILOT_PROVIDER_API_KEY: 'invented',
      COPILOT_MODEL: 'claude-sonnet-4',
      COPILOT_AUTO_UPDATE: 'false',
    }),
    command: 'copilot --allow-all-tools',
    ready: '? help',
    program: /\bcopilot( |$)/,
    shell: bash,
  },
} as const satisfies Record<string, Agent>;

export type AgentName = keyof typeof AGENTS;

const ENTER_AGAIN_MS = 5000;

/** Before the first terminal is opened: its tmux server hands the environment to all of them. */
export const agentHome = (stage: Stage, name: AgentName, more: Servers = {}): void => {
  AGENTS[name].home(stage, { memory: MEMORY, ...more });
  Object.assign(stage.env, AGENTS[name].env(stage));
};

/** A running agent other than Claude. */
export class AgentSession {
  readonly stage: Stage;
  readonly name: AgentName;
  readonly seen: Seen;
  readonly terminal: TmuxTerminal;
  readonly #prompt: (text: string) => Promise<void>;

  private constructor(
    stage: Stage,
    name: AgentName,
    seen: Seen,
    terminal: TmuxTerminal,
    prompt: (text: string) => Promise<void> = async () => {},
  ) {
    this.stage = stage;
    this.name = name;
    this.seen = seen;
    this.terminal = terminal;
    this.#prompt = prompt;
  }

  /** In a terminal of its own, at its prompt, with its server. */
  static async open(stage: Stage, name: AgentName, in_ = 'one'): Promise<AgentSession> {
    const { command, ready } = AGENTS[name];
    const terminal = await stage.terminal(in_);
    terminal.run(command);
    await terminal.shows(ready);
    const seen = await AgentSession.#find(stage, name, terminal.pid);
    await stage.settled();
    return new AgentSession(stage, name, seen, terminal, async text => {
      terminal.type(text);
      await terminal.shows(text);
      await AgentSession.#enter(stage, terminal);
    });
  }

  /** An Enter too soon after a line counts as pasted: it is pressed again until the model has heard the line. */
  static async #enter(stage: Stage, terminal: TmuxTerminal): Promise<void> {
    const { heard } = stage.standIn.scripts;
    const before = heard.length;
    let pressed = Number.NEGATIVE_INFINITY;
    await until(
      'the model to hear what was typed',
      () => {
        if (heard.length > before) return true;
        if (performance.now() - pressed < ENTER_AGAIN_MS) return false;
        pressed = performance.now();
        terminal.keys('Enter');
        return false;
      },
      PATIENCE,
    );
  }

  /** Run for one request, by a command line that names it. */
  static async run(stage: Stage, name: AgentName, command: string, in_ = 'one'): Promise<AgentSession> {
    const terminal = await stage.terminal(in_);
    terminal.run(command);
    return new AgentSession(stage, name, await AgentSession.#find(stage, name, terminal.pid), terminal);
  }

  /** The innermost of its processes; those above only wait for it. A child that has yet to exec looks like one, too. */
  static async #find(stage: Stage, name: AgentName, of: number): Promise<Seen> {
    const { program } = AGENTS[name];
    const family = (): readonly Seen[] =>
      below(of, lasting()).filter(seen => seen.pid !== of && program.test(seen.command));
    await stage.settled();
    const innermost = await until(
      `${name} to start`,
      () => family().find(seen => !family().some(other => other.ppid === seen.pid)),
      PATIENCE,
    );
    for (const seen of family())
      stage.is(
        seen,
        seen.pid === innermost.pid
          ? { what: `a live ${name}`, verdict: 'live', kind: 'agent' }
          : { what: `the launcher of ${name}`, verdict: 'live', kind: 'wrapper' },
      );
    return innermost;
  }

  get pid(): number {
    return this.seen.pid;
  }

  /** Says a line to it. */
  say(text: string): Promise<void> {
    return this.#prompt(text);
  }

  /** Runs these commands one after the other. */
  async play(script: string, ...commands: readonly string[]): Promise<void> {
    const { scripts } = this.stage.standIn;
    await this.#prompt(scripts.write(script, commands.map(AGENTS[this.name].shell)));
    await until(`${this.name} to finish ${script}`, () => scripts.finished(script), PATIENCE);
  }

  /** Killed -9; what was below it and survives. */
  async killed(): Promise<readonly Seen[]> {
    const before = below(this.pid).filter(seen => seen.pid !== this.pid);
    await this.stage.kill([this.seen]);
    await this.stage.settled();
    return before.filter(stillRuns);
  }
}
