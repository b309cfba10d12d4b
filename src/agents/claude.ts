import type { Evidence, Family } from './family-type.ts';

/** MCP servers get no CLAUDE_PID. CLAUDE_CODE_MESSAGING_TOKEN is a secret, and no mark. */
export const CLAUDE_EVIDENCE: Evidence = {
  agent: 'claude',
  title: 'Claude',
  marks: ['CLAUDE_CODE_SESSION_ID', 'CLAUDE_PID', 'CLAUDE_CODE_MESSAGING_SOCKET', 'CLAUDECODE'],
  ownerPid: 'CLAUDE_PID',
  sessionIds: ['CLAUDE_CODE_SESSION_ID'],
  socket: 'CLAUDE_CODE_MESSAGING_SOCKET',
  registers: true,
  threads: false,
  daemon: { role: 'claude-daemon', what: "Claude's own supervisor", stop: 'claude daemon stop' },
};

/** Claude Code in the shapes that its installers, editors and its own supervisor give it. */
export const CLAUDE: readonly Family[] = [
  {
    // The npm fallback when the native binary could not be linked: waits for the real claude below it.
    id: 'claude-launcher',
    kind: 'wrapper',
    name: 'claude launcher',
    paths: [{ under: '@anthropic-ai/claude-code', file: ['cli-wrapper.cjs'] }],
    carries: { names: 'nothing' },
  },
  {
    id: 'claude-code-acp',
    kind: 'wrapper',
    packages: [
      '@zed-industries/claude-code-acp',
      '@zed-industries/claude-agent-acp',
      '@agentclientprotocol/claude-agent-acp',
    ],
    programs: ['claude-code-acp', 'claude-agent-acp'],
    carries: { names: 'nothing' },
  },
  {
    id: 'claude',
    kind: 'agent',
    agent: 'claude',
    name: 'claude',
    programs: ['claude'],
    packages: ['@anthropic-ai/claude-code'],
    paths: [
      // The native installer names the file by its version, and so does the kernel.
      { under: 'claude/versions', direct: true },
      { under: '@anthropic-ai/claude-code', file: ['cli.js', 'cli.mjs', 'start.js'] },
      { under: '@anthropic-ai/claude-agent-sdk', file: ['cli.js', 'cli.mjs'] },
    ],
    sessionFlags: ['--resume', '-r', '--session-id'],
    forks: { flag: '--fork-session', from: ['--resume', '-r'] },
    forms: [
      { when: { start: [['mcp', 'serve']] }, kind: 'mcp', family: 'claude-mcp', name: 'claude mcp serve' },
      {
        when: { flag: ['--claude-in-chrome-mcp'] },
        kind: 'mcp',
        family: 'claude-in-chrome',
        name: 'claude --claude-in-chrome-mcp',
      },
      {
        // Started by the browser, inside its process group: no session of anybody.
        when: { flag: ['--chrome-native-host'] },
        kind: 'other',
        family: 'claude-chrome-host',
        name: 'claude --chrome-native-host',
      },
      { when: { start: [['daemon', 'run']] }, role: 'claude-daemon', name: 'claude daemon' },
      { when: { flag: ['--daemon-worker'] }, role: 'claude-daemon', name: 'claude daemon-worker' },
      {
        when: { flag: ['--bg-pty-host'] },
        role: 'claude-daemon',
        name: 'claude bg-pty-host',
      },
      { when: { start: [['bg-pty-host']] }, role: 'claude-daemon', name: 'claude bg-pty-host' },
      { when: { flag: ['--bg-spare'] }, role: 'claude-daemon', name: 'claude bg-spare' },
      { when: { start: [['bg-spare']] }, role: 'claude-daemon', name: 'claude bg-spare' },
      // `claude daemon status` and the like are passing commands, but harmless to protect.
      { when: { start: [['daemon']] }, role: 'claude-daemon', name: 'claude daemon' },
      { when: { flag: ['--bg', '--background'] }, role: 'background-session' },
      { when: { start: [['agents']] }, role: 'dashboard', name: 'claude agents' },
    ],
  },
];

/** Editors that bring Claude along as an extension, by where they keep their extensions. */
const EDITORS: readonly (readonly [RegExp, string])[] = [
  [/\/\.cursor(?:-server)?\//, 'Cursor'],
  [/\/\.windsurf(?:-server)?\//, 'Windsurf'],
  [/\/\.vscode[\w-]*\//, 'VS Code'],
];

/** What people call the app that runs an agent; null: neither its path nor its entrypoint says. Only to be shown. */
export const hostApp = (program: string, entrypoint: string): string | null => {
  const editor = EDITORS.find(([place]) => place.test(program))?.[1];
  if (editor !== undefined) return editor;
  if (entrypoint === 'claude-vscode') return 'VS Code';
  return entrypoint === 'claude-desktop' ? 'Claude Desktop' : null;
};
