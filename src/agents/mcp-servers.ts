import type { Family } from './families.ts';

/** MCP servers whose names do not follow the usual shapes, or that need more said about them. */
export const MCP_SERVERS: readonly Family[] = [
  {
    id: 'claude-mem-worker',
    kind: 'mcp',
    name: 'claude-mem worker',
    programs: ['worker-service.cjs'],
    only: [{ flag: ['--daemon'] }, { command: ['start', 'run'] }],
    // One worker for all sessions, reached over HTTP, at PPID 1 by design.
    transport: 'http',
    forms: [{ when: { flag: ['--daemon'] }, role: 'declared-daemon' }],
  },
  {
    id: 'claude-mem',
    kind: 'mcp',
    name: 'claude-mem mcp-server',
    paths: [{ under: 'claude-mem', file: ['mcp-server.cjs'] }],
  },
  {
    id: 'serena',
    kind: 'mcp',
    name: 'serena',
    programs: ['serena', 'serena-mcp-server'],
    packages: ['serena-agent', 'serena'],
    modules: ['serena'],
    only: [
      { command: ['start-mcp-server'] },
      { command: ['mcp'] },
      { flag: ['--context', '--project', '--project-from-cwd', '--transport'] },
    ],
  },
  {
    // Started by serena, and as useless as a server once serena is gone.
    id: 'serena-language-server',
    kind: 'mcp',
    name: 'serena language server',
    paths: [{ under: '.serena/language_servers' }],
  },
  {
    id: 'context7',
    kind: 'mcp',
    name: 'context7-mcp',
    packages: ['@upstash/context7-mcp'],
    programs: ['context7-mcp'],
  },
  {
    id: 'playwright-mcp',
    kind: 'mcp',
    name: 'playwright-mcp',
    programs: ['playwright-mcp', 'mcp-server-playwright'],
    packages: ['@playwright/mcp'],
    forms: [{ when: { flag: ['--port'] }, transport: 'http' }],
  },
  {
    id: 'chrome-devtools-mcp',
    kind: 'mcp',
    name: 'chrome-devtools-mcp',
    programs: ['chrome-devtools-mcp'],
    packages: ['chrome-devtools-mcp'],
  },
  {
    id: 'github-mcp-server',
    kind: 'mcp',
    name: 'github-mcp-server',
    programs: ['github-mcp-server', 'mcp-server-github'],
    packages: ['@modelcontextprotocol/server-github'],
    forms: [{ when: { command: ['http'] }, transport: 'http' }],
  },
  {
    id: 'markitdown-mcp',
    kind: 'mcp',
    name: 'markitdown-mcp',
    programs: ['markitdown-mcp'],
    modules: ['markitdown_mcp'],
  },
  { id: 'chroma-mcp', kind: 'mcp', name: 'chroma-mcp', programs: ['chroma-mcp'], modules: ['chroma_mcp'] },
  {
    // Stdio towards its one client; `--transport` speaks of the far side.
    id: 'mcp-remote',
    kind: 'mcp',
    name: 'mcp-remote',
    programs: ['mcp-remote'],
    packages: ['mcp-remote'],
    transport: 'stdio',
  },
  {
    id: 'codegraph',
    kind: 'mcp',
    name: 'codegraph',
    programs: ['codegraph'],
    packages: ['@colbymchenry/codegraph', 'codegraph'],
    only: [{ flag: ['--mcp', '--daemon'] }, { command: ['mcp', 'serve', 'daemon'] }],
    // Its shared daemon outlives the session for five minutes on purpose.
    forms: [
      { when: { flag: ['--daemon'] }, role: 'declared-daemon' },
      { when: { command: ['daemon'] }, role: 'declared-daemon' },
    ],
  },
  {
    id: 'desktop-commander',
    kind: 'mcp',
    name: 'desktop-commander',
    programs: ['desktop-commander'],
    packages: ['@wonderwhy-er/desktop-commander'],
  },
  {
    id: 'taskmaster',
    kind: 'mcp',
    name: 'task-master-ai',
    programs: ['task-master-ai'],
    packages: ['task-master-ai'],
  },
  {
    id: 'browser-tools',
    kind: 'mcp',
    name: 'browser-tools-server',
    programs: ['browser-tools-server'],
    packages: ['@agentdeskai/browser-tools-server'],
    transport: 'http',
  },
];
