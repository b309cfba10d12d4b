import type { Role } from '../model/kind.ts';
import { ANCHORS, TMUX } from './anchors.ts';
import { BROWSERS } from './browsers.ts';
import { CLAUDE, CLAUDE_EVIDENCE } from './claude.ts';
import { CODEX, CODEX_EVIDENCE } from './codex.ts';
import type { Evidence, Family } from './family-type.ts';
import { LEAN } from './lean.ts';
import { MCP_GATEWAYS, MCP_SERVERS } from './mcp.ts';
import { PACKAGE_RUNNERS, WRAPPERS } from './wrappers.ts';

/** Its third mark, AGENT, is a word that others use too. */
const OPENCODE_EVIDENCE: Evidence = {
  agent: 'opencode',
  title: 'OpenCode',
  marks: ['OPENCODE_PID', 'OPENCODE'],
  ownerPid: 'OPENCODE_PID',
  sessionIds: [],
  socket: null,
  registers: false,
  threads: false,
  daemon: null,
};

/** Its mark names neither pid nor session. */
const GEMINI_EVIDENCE: Evidence = {
  agent: 'gemini',
  title: 'Gemini',
  marks: ['GEMINI_CLI'],
  ownerPid: null,
  sessionIds: [],
  socket: null,
  registers: false,
  threads: false,
  daemon: null,
};

/** The loader is the process of the session itself. MCP servers get no COPILOT_CLI. */
const COPILOT_EVIDENCE: Evidence = {
  agent: 'copilot',
  title: 'Copilot',
  marks: ['COPILOT_AGENT_SESSION_ID', 'COPILOT_LOADER_PID', 'COPILOT_CLI'],
  ownerPid: 'COPILOT_LOADER_PID',
  sessionIds: ['COPILOT_AGENT_SESSION_ID'],
  socket: null,
  registers: false,
  threads: false,
  daemon: null,
};

/** Coding agents other than claude and codex. Names that other tools share ask for more than the name. */
const OTHER_AGENTS: readonly Family[] = [
  {
    id: 'gemini',
    kind: 'agent',
    agent: 'gemini',
    name: 'gemini',
    programs: ['gemini', 'gemini.js'],
    packages: ['@google/gemini-cli'],
    sessionFlags: ['--resume', '-r'],
  },
  {
    id: 'opencode',
    kind: 'agent',
    agent: 'opencode',
    name: 'opencode',
    programs: ['opencode', '.opencode'],
    packages: ['opencode-ai'],
    launcherWhenInterpreted: true,
    sessionFlags: ['--session', '-s'],
    forms: [{ when: { command: ['serve', 'acp'] }, name: 'opencode serve', role: 'session-host' }],
  },
  {
    id: 'aider',
    kind: 'agent',
    agent: 'aider',
    name: 'aider',
    programs: ['aider'],
    packages: ['aider-chat'],
    modules: ['aider'],
  },
  {
    id: 'cursor-agent',
    kind: 'agent',
    agent: 'cursor-agent',
    name: 'cursor-agent',
    programs: ['cursor-agent'],
    paths: [{ under: 'cursor-agent/versions', file: ['index.js', 'cursor-agent'] }],
    sessionFlags: ['--resume'],
  },
  {
    id: 'copilot',
    kind: 'agent',
    agent: 'copilot',
    name: 'copilot',
    programs: ['copilot'],
    packages: ['@github/copilot'],
    // AWS Copilot deploys containers under the same name.
    never: [
      {
        command: ['init', 'app', 'env', 'svc', 'job', 'task', 'pipeline', 'deploy', 'run', 'storage'],
      },
    ],
    sessionFlags: ['--resume', '-r', '--session-id'],
    forms: [{ when: { flag: ['--server', '--acp'] }, name: 'copilot --server', role: 'session-host' }],
  },
  {
    id: 'qwen',
    kind: 'agent',
    agent: 'qwen',
    name: 'qwen',
    programs: ['qwen'],
    packages: ['@qwen-code/qwen-code'],
  },
  { id: 'kimi', kind: 'agent', agent: 'kimi', name: 'kimi', programs: ['kimi'], packages: ['kimi-cli'] },
  {
    id: 'crush',
    kind: 'agent',
    agent: 'crush',
    name: 'crush',
    programs: ['crush'],
    packages: ['@charmland/crush'],
  },
  { id: 'droid', kind: 'agent', agent: 'droid', name: 'droid', programs: ['droid'] },
  {
    id: 'amp',
    kind: 'agent',
    agent: 'amp',
    name: 'amp',
    packages: ['@sourcegraph/amp'],
    paths: [{ under: '.amp/bin', direct: true, file: ['amp'] }, { under: '@sourcegraph/amp' }],
  },
  {
    // The database migration tool of the same name has other commands.
    id: 'goose',
    kind: 'agent',
    agent: 'goose',
    name: 'goose',
    programs: ['goose'],
    only: [{ command: ['session', 'run', 'web', 'acp', 'recipe'] }],
  },
  {
    id: 'auggie',
    kind: 'agent',
    agent: 'auggie',
    name: 'auggie',
    programs: ['auggie'],
    packages: ['@augmentcode/auggie'],
  },
  { id: 'kiro', kind: 'agent', agent: 'kiro', name: 'kiro-cli', programs: ['kiro-cli', 'kiro-cli-chat'] },
  {
    id: 'amazon-q',
    kind: 'agent',
    agent: 'amazon-q',
    name: 'q chat',
    programs: ['q', 'qchat'],
    only: [{ command: ['chat'] }],
  },
  {
    id: 'openhands',
    kind: 'agent',
    agent: 'openhands',
    name: 'openhands',
    programs: ['openhands'],
    modules: ['openhands'],
  },
];

/** Who is who, in order: the first family that accepts a token wins. */
export const FAMILIES: readonly Family[] = [
  ...TMUX,
  ...CLAUDE,
  ...CODEX,
  ...OTHER_AGENTS,
  ...LEAN,
  ...MCP_SERVERS,
  ...MCP_GATEWAYS,
  ...PACKAGE_RUNNERS,
  ...WRAPPERS,
  ...BROWSERS,
  ...ANCHORS,
];

/** How a process's owner is found for families whose processes carry marks. */
export const EVIDENCE: readonly Evidence[] = [
  CLAUDE_EVIDENCE,
  CODEX_EVIDENCE,
  COPILOT_EVIDENCE,
  GEMINI_EVIDENCE,
  OPENCODE_EVIDENCE,
];

const SESSIONLESS: ReadonlySet<Role> = new Set<Role>([
  ...EVIDENCE.flatMap(({ daemon }) => daemon?.role ?? []),
  'dashboard',
]);

/** Supervisors, shared daemons and dashboards are agents' programs without a session of their own. */
export const isSessionless = (role: Role | null): boolean => role !== null && SESSIONLESS.has(role);

const THREADED: ReadonlySet<string> = new Set(
  EVIDENCE.filter(({ threads }) => threads).map(({ agent }) => agent),
);

/** Serves several sessions, threads or subagents, each with servers of its own: equal ones below it are no duplicates. */
export const servesSeveral = ({ agent, role }: { agent: string | null; role: Role | null }): boolean =>
  isSessionless(role) || role === 'session-host' || (agent !== null && THREADED.has(agent));
