import { type Family, list } from './family-type.ts';

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

/** Programs that run or relay another MCP server, and tools that are a server under one command. */
export const MCP_GATEWAYS: readonly Family[] = [
  {
    id: 'supergateway',
    kind: 'mcp',
    name: 'supergateway',
    programs: ['supergateway'],
    packages: ['supergateway'],
    transport: 'http',
  },
  { id: 'mcpo', kind: 'mcp', name: 'mcpo', programs: ['mcpo'], packages: ['mcpo'], transport: 'http' },
  {
    id: 'mcp-proxy',
    kind: 'mcp',
    name: 'mcp-proxy',
    programs: ['mcp-proxy'],
    packages: ['mcp-proxy'],
    forms: [{ when: { flag: ['--port', '--sse-port', '--named-server-config'] }, transport: 'http' }],
  },
  {
    // The SDK's own runner of a server file.
    id: 'mcp-run',
    kind: 'mcp',
    name: 'mcp run',
    programs: ['mcp', 'fastmcp'],
    packages: ['fastmcp'],
    only: [{ command: ['run', 'dev'] }],
  },
  {
    // Works on for all sessions of a project, and is stopped by `daemon stop`.
    id: 'claude-flow-daemon',
    kind: 'other',
    programs: list('claude-flow ruflo'),
    packages: list('claude-flow ruflo'),
    valueFlags: list('-c --config -w --workspace --cwd'),
    only: [{ command: ['daemon'] }],
    role: 'declared-daemon',
  },
  {
    // Tools that are a server under one of their commands.
    id: 'mcp-command',
    kind: 'mcp',
    programs: list('claude-flow ruflo gopls dart firebase docker'),
    packages: list('claude-flow ruflo firebase-tools'),
    only: [
      { start: [['mcp', 'start'], ['mcp', 'gateway'], ['mcp-server'], ['experimental:mcp']] },
      { start: [['mcp']] },
    ],
    // `docker mcp catalog ls` and the like end by themselves.
    never: [
      {
        start: [
          ['mcp', 'catalog'],
          ['mcp', 'server'],
          ['mcp', 'client'],
          ['mcp', 'tools'],
          ['mcp', 'list'],
        ],
      },
    ],
  },
  {
    id: 'smithery',
    kind: 'mcp',
    name: 'smithery',
    packages: ['@smithery/cli'],
    only: [{ command: ['run'] }],
  },
];

/** `mcp-…` tools that are not servers. */
export const NOT_MCP_SERVERS = list(`
  mcp-inspector mcp-cli mcp-get mcp-scan mcp-publisher mcp-client mcp-hub mcp-config mcp-install mcp-installer
  mcp-test mcp-tests mcp-eval mcp-bench mcp-build`);

/** How a server's own flags say that clients reach it over the network. */
export const HTTP_TRANSPORT = {
  valueFlags: list('--transport -t --mcp-transport --transport-type --outputTransport'),
  values: list('http sse streamable-http streamable_http streamableHttp streamablehttp shttp http-stream'),
  flags: list('--http --sse --streamable-http --streamableHttp --http-port --sse-port --stateless'),
  commands: list('http sse streamable-http streamableHttp'),
};

/** Flags by which a server talks only to the process that started it. */
export const STDIO_TRANSPORT = {
  valueFlags: HTTP_TRANSPORT.valueFlags,
  values: ['stdio'],
  flags: ['--stdio', '-stdio'],
  commands: ['stdio'],
};

/** Flags by which a program is meant to outlive what starts it. */
export const DAEMON_WORDS = {
  command: 'daemon',
  actions: list('start run serve'),
  flags: list('--daemon --daemonize -daemon -daemonize'),
};

/** What follows `PROGRAM mcp` when that starts a server. */
export const SERVER_COMMANDS = list('serve start stdio');

/**
 * Programs that manage or fetch something called mcp, apart from the readers: `brew mcp` and `apt mcp` are not servers.
 * The agents' own `claude mcp`, `codex mcp` are known by their families before anybody asks.
 */
export const NOT_COMMANDED = list(`
  npm npx pnpm yarn bun bunx deno pip pip3 pipx uv uvx poetry conda brew apt apt-get dnf yum pacman apk nix port gem
  bundle composer mvn gradle just task rake echo printf man which whereis type whatis apropos export set unset cd pushd
  mosh telnet nc xdg-open open tmux screen su sudo doas kubectl helm systemctl service launchctl journalctl crontab`);

/** Programs that read, search or move files: `mcp` among their arguments is only what they look at. */
export const READERS = list(`
  grep egrep fgrep rg ag ack sed awk gawk cat bat tail head less more vim vi nvim nano emacs git find fd ls jq wc
  sort diff cp mv rm mkdir tar curl wget ps pgrep pkill kill ssh scp rsync inotifywait sleep watch gh touch tree du
  cc gcc g++ clang ld make cmake ninja cargo rustc go tsc eslint biome pytest vitest jest`);
