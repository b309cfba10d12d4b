import { readdirSync, readFileSync } from 'node:fs';
import { until } from '../../../support/until.ts';
import type { Stage } from './stage.ts';
import { below, everybody, type Seen, stillRuns } from './table.ts';
import { PATIENCE, type TmuxTerminal } from './terminal.ts';

/** Servers as a project's `.mcp.json` names them. */
export const MCP = {
  memory: { command: 'mcp-server-memory', args: [] },
  everything: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-everything'] },
  filesystem: { command: 'mcp-server-filesystem', args: ['/home/ada/work'] },
} as const;

/** The files of somebody who has used Claude Code before: no first-run questions, no permission questions. */
export const claudeHome = (
  stage: Stage,
  servers: Readonly<Record<string, unknown>> = {},
  settings: Readonly<Record<string, unknown>> = {},
): void => {
  const project = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
  stage.write('.claude.json', {
    hasCompletedOnboarding: true,
    lastOnboardingVersion: '2.1.327',
    theme: 'dark',
    bypassPermissionsModeAccepted: true,
    autoUpdates: false,
    customApiKeyResponses: { approved: [stage.env.ANTHROPIC_API_KEY!.slice(-20)], rejected: [] },
    projects: { [stage.path('work')]: project, [stage.path('other')]: project },
  });
  stage.write('.claude/settings.json', {
    enableAllProjectMcpServers: true,
    skipDangerousModePermissionPrompt: true,
    ...settings,
  });
  stage.write('work/.mcp.json', { mcpServers: servers });
};

interface SessionFile {
  readonly pid: number;
  readonly kind?: string;
  readonly sessionId: string;
  readonly status?: string;
}

const sessionFile = (stage: Stage, pid: number): SessionFile | null => {
  try {
    return JSON.parse(readFileSync(stage.path(`.claude/sessions/${pid}.json`), 'utf8')) as SessionFile;
  } catch {
    return null;
  }
};

/** The session that Claude registered as running in the background: forked anew, or a spare that was claimed. */
export const backgroundSession = async (stage: Stage): Promise<Seen> => {
  const known = await until(
    'a background session to be registered',
    () =>
      readdirSync(stage.path('.claude/sessions'))
        .filter(name => name.endsWith('.json'))
        .map(name => sessionFile(stage, Number.parseInt(name, 10)))
        .find(file => file?.kind === 'bg' && file.status !== undefined),
    PATIENCE,
  );
  return stage.seen('the background session', seen => seen.pid === known.pid);
};

const IS_CLAUDE = /^(\S*\/)?claude(\.exe)?( |$)/;

/** A running claude and how to speak to it. */
export class ClaudeSession {
  readonly stage: Stage;
  readonly seen: Seen;
  readonly terminal: TmuxTerminal | null;

  constructor(stage: Stage, seen: Seen, terminal: TmuxTerminal | null) {
    this.stage = stage;
    this.seen = seen;
    this.terminal = terminal;
    stage.is(seen, { what: 'a live claude', verdict: 'live', kind: 'agent', owner: seen.pid });
  }

  /** In a terminal of its own, at its prompt. */
  static async open(stage: Stage, name: string, args = '', cwd?: string): Promise<ClaudeSession> {
    const terminal = await stage.terminal(name, cwd);
    return ClaudeSession.startIn(stage, terminal, args);
  }

  /** The same, but it asks before it does something. */
  static async asking(stage: Stage, name: string): Promise<ClaudeSession> {
    return ClaudeSession.startIn(stage, await stage.terminal(name), '', 'claude');
  }

  static async startIn(
    stage: Stage,
    terminal: TmuxTerminal,
    args = '',
    command = 'claude --dangerously-skip-permissions',
  ): Promise<ClaudeSession> {
    terminal.run(`${command} ${args}`.trim());
    const seen = await stage.child(terminal.pid, IS_CLAUDE);
    const session = new ClaudeSession(stage, seen, terminal);
    await session.atPrompt();
    return session;
  }

  /** `claude -p`, below a terminal or not. */
  static async find(stage: Stage, of: number): Promise<ClaudeSession> {
    return new ClaudeSession(stage, await stage.child(of, IS_CLAUDE), null);
  }

  get pid(): number {
    return this.seen.pid;
  }

  get id(): string {
    const id = sessionFile(this.stage, this.pid)?.sessionId;
    if (id === undefined) throw new Error(`no session file of ${this.pid}`);
    return id;
  }

  /** At its prompt, whether or not a shell runs on behind it. */
  async atPrompt(): Promise<void> {
    await this.until('a prompt', () =>
      /^(idle|shell)$/.test(sessionFile(this.stage, this.pid)?.status ?? ''),
    );
  }

  async until(what: string, condition: () => unknown): Promise<void> {
    await until(`${what} of claude ${this.pid}`, condition, PATIENCE);
  }

  /** Says a line to it; the next prompt may only come when it listens. */
  say(line: string): void {
    this.terminal!.type(line);
    this.terminal!.keys('Enter');
  }

  /** The id that Claude registers for this process changes; waits for it. */
  async renamed(act: () => void): Promise<void> {
    const before = this.id;
    act();
    await this.until('another session id', () => this.id !== before);
    await this.atPrompt();
  }

  /** Plays steps to their end. */
  async play(name: string, ...steps: Parameters<Stage['standIn']['scripts']['write']>[1]): Promise<void> {
    this.say(this.stage.standIn.scripts.write(name, steps));
    await until(`the model to finish ${name}`, () => this.stage.standIn.scripts.finished(name), PATIENCE);
  }

  below(): readonly Seen[] {
    return below(this.pid).filter(seen => seen.pid !== this.pid);
  }

  /** Killed -9. What survives it is what was below it. */
  async killed(): Promise<readonly Seen[]> {
    const before = this.below();
    await this.stage.kill([this.seen]);
    await this.stage.settled();
    return before.filter(stillRuns);
  }

  get running(): boolean {
    return stillRuns(this.seen);
  }
}

export const bash = (command: string, background = false) => ({
  tool: 'Bash',
  input: { command, description: command, ...(background ? { run_in_background: true } : {}) },
});

export const claudes = (): readonly Seen[] => everybody().filter(seen => IS_CLAUDE.test(seen.command));
