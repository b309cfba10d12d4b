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

/** `opencode --log-level WARN serve` is how its desktop starts it. */
const OPENCODE_VALUE_FLAGS = [
  ...['--log-level', '--port', '--hostname', '--mdns-domain', '--cors'],
  ...['-m', '--model', '-s', '--session', '--prompt', '--agent'],
];

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
    // OpenCode's desktop brings the same program as `opencode-cli`.
    programs: ['opencode', '.opencode', 'opencode-cli'],
    packages: ['opencode-ai'],
    launcherWhenInterpreted: true,
    sessionFlags: ['--session', '-s'],
    valueFlags: OPENCODE_VALUE_FLAGS,
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
  {
    // Its second version is a Node program that calls itself `kimi-code`.
    id: 'kimi',
    kind: 'agent',
    agent: 'kimi',
    name: 'kimi',
    programs: ['kimi', 'kimi-code'],
    packages: ['kimi-cli', '@moonshot-ai/kimi-code'],
    forms: [{ when: { command: ['acp'] }, name: 'kimi acp', role: 'session-host' }],
  },
  {
    // A fork of OpenCode; an editor has the same name, and is given a file.
    id: 'kilo',
    kind: 'agent',
    agent: 'kilo',
    name: 'kilo',
    programs: ['kilo', '.kilo', 'kilocode'],
    packages: ['@kilocode/cli'],
    launcherWhenInterpreted: true,
    only: [{ bare: true }, { command: ['run', 'serve', 'acp', 'attach', 'web'] }],
    home: ['@kilocode/', 'node_modules/.bin/kilo', '.kilo'],
    sessionFlags: ['--session', '-s'],
    valueFlags: OPENCODE_VALUE_FLAGS,
    forms: [{ when: { command: ['serve', 'acp', 'web'] }, name: 'kilo serve', role: 'session-host' }],
  },
  {
    // Calls itself `pi`, which alone is anybody's name: only what Node runs.
    id: 'pi',
    kind: 'agent',
    agent: 'pi',
    name: 'pi',
    programs: ['pi'],
    packages: ['@earendil-works/pi-coding-agent', '@mariozechner/pi-coding-agent'],
    only: [{ holding: ['pi-coding-agent/'] }],
    home: ['pi-coding-agent/', '/bin/node', 'node_modules/.bin/pi'],
  },
  {
    // Sessions of one user share a hub, which the first of them starts.
    id: 'cline',
    kind: 'agent',
    agent: 'cline',
    name: 'cline',
    programs: ['cline'],
    packages: ['cline'],
    forms: [
      { when: { flag: ['--cline-hub-daemon'] }, name: 'cline hub', role: 'session-hub' },
      { when: { flag: ['--acp'] }, name: 'cline --acp', role: 'session-host' },
    ],
  },
  {
    id: 'continue',
    kind: 'agent',
    agent: 'continue',
    name: 'cn',
    programs: ['cn', 'cn.js'],
    packages: ['@continuedev/cli'],
    only: [{ holding: ['@continuedev/cli/'] }],
    home: ['@continuedev/cli/', '/bin/cn', '.bin/cn'],
    forms: [{ when: { command: ['serve'] }, name: 'cn serve', role: 'session-host' }],
  },
  {
    id: 'grok',
    kind: 'agent',
    agent: 'grok',
    name: 'grok',
    programs: ['grok', 'grok-native'],
    packages: ['@xai-official/grok', '@vibe-kit/grok-cli'],
    // A parser of logs has the same name.
    never: [{ flag: ['-f'] }],
  },
  {
    id: 'qoder',
    kind: 'agent',
    agent: 'qoder',
    name: 'qodercli',
    programs: ['qodercli', 'qodercli.js'],
    packages: ['@qoder-ai/qodercli'],
    forms: [{ when: { flag: ['--acp'] }, name: 'qodercli --acp', role: 'session-host' }],
  },
  {
    // `letta server` is the Python server that agents of this name talk to.
    id: 'letta',
    kind: 'agent',
    agent: 'letta',
    name: 'letta',
    programs: ['letta', 'letta.js'],
    packages: ['@letta-ai/letta-code'],
    never: [{ command: ['server'] }],
  },
  {
    // Starts Claude or Codex below itself and shows it on a phone: a script that starts another.
    id: 'happy',
    kind: 'wrapper',
    name: 'happy',
    packages: ['happy', 'happy-coder'],
    paths: [
      { under: 'node_modules/.bin', direct: true, file: ['happy'] },
      { under: 'happy/bin', direct: true, file: ['happy.mjs'] },
      { under: 'happy-coder/bin', direct: true, file: ['happy.mjs'] },
      { under: 'happy/dist', direct: true, file: ['index.mjs'] },
      { under: 'happy-coder/dist', direct: true, file: ['index.mjs'] },
    ],
    carries: { names: 'nothing' },
  },
  {
    id: 'crush',
    kind: 'agent',
    agent: 'crush',
    name: 'crush',
    programs: ['crush'],
    packages: ['@charmland/crush'],
    launcherWhenInterpreted: true,
  },
  { id: 'droid', kind: 'agent', agent: 'droid', name: 'droid', programs: ['droid'] },
  {
    id: 'amp',
    kind: 'agent',
    agent: 'amp',
    name: 'amp',
    // Other programs have its name: only the file that runs tells.
    programs: ['amp'],
    only: [{ holding: ['@ampcode/cli'] }],
    home: ['@ampcode/cli', '@sourcegraph/amp', '.amp/bin/amp'],
    packages: ['@sourcegraph/amp', '@ampcode/cli'],
    paths: [
      { under: '.amp/bin', direct: true, file: ['amp'] },
      { under: '@sourcegraph/amp' },
      { under: '@ampcode/cli/bin', direct: true, file: ['amp', 'amp.exe'] },
      { under: '@ampcode/cli-linux-x64', direct: true, file: ['amp'] },
      { under: '@ampcode/cli-linux-arm64', direct: true, file: ['amp'] },
      { under: '@ampcode/cli-darwin-x64', direct: true, file: ['amp'] },
      { under: '@ampcode/cli-darwin-arm64', direct: true, file: ['amp'] },
    ],
  },
  {
    // Its screen: `goose acp` below it is the agent.
    id: 'goose-tui',
    kind: 'wrapper',
    name: 'goose-tui',
    programs: ['goose-tui'],
    packages: ['@aaif/goose'],
    carries: { names: 'nothing' },
  },
  {
    // The database migration tool of the same name has other commands.
    id: 'goose',
    kind: 'agent',
    agent: 'goose',
    name: 'goose',
    programs: ['goose'],
    only: [{ command: ['session', 'run', 'web', 'acp', 'recipe'] }],
    home: ['@aaif/goose'],
    forms: [{ when: { command: ['acp', 'web'] }, name: 'goose acp', role: 'session-host' }],
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

const HOSTS: ReadonlySet<Role | null> = new Set<Role>(['session-host', 'session-hub']);

const THREADED: ReadonlySet<string> = new Set(
  EVIDENCE.filter(({ threads }) => threads).map(({ agent }) => agent),
);

/** Serves several sessions, threads or subagents, each with servers of its own: equal ones below it are no duplicates. */
export const servesSeveral = ({ agent, role }: { agent: string | null; role: Role | null }): boolean =>
  isSessionless(role) || HOSTS.has(role) || (agent !== null && THREADED.has(agent));
