import type { Evidence, Family } from './family-type.ts';

export const CODEX_EVIDENCE: Evidence = {
  agent: 'codex',
  title: 'Codex',
  marks: ['CODEX_SESSION_ID', 'CODEX_THREAD_ID'],
  ownerPid: null,
  sessionIds: ['CODEX_SESSION_ID', 'CODEX_THREAD_ID'],
  socket: null,
  registers: false,
  threads: true,
  daemon: {
    role: 'codex-daemon',
    what: 'the daemon that all Codex sessions share',
    stop: 'codex app-server daemon stop',
  },
};

export const CODEX: readonly Family[] = [
  {
    // The same binary under another argv[0], around one command of the session.
    id: 'codex-sandbox',
    kind: 'wrapper',
    programs: ['codex-linux-sandbox', 'codex-execve-wrapper'],
    carries: { names: 'program', afterDashes: true },
  },
  {
    // Zed's adapter: the npm script starts a native program that holds the sessions itself. The protocol's own one is
    // that script alone, with `codex app-server` below it.
    id: 'codex-acp',
    kind: 'agent',
    agent: 'codex',
    name: 'codex-acp',
    programs: ['codex-acp'],
    packages: ['@zed-industries/codex-acp', '@agentclientprotocol/codex-acp'],
    launcherWhenInterpreted: true,
    role: 'session-host',
  },
  {
    id: 'codex',
    kind: 'agent',
    agent: 'codex',
    name: 'codex',
    programs: [
      'codex',
      'codex.js',
      'codex-x86_64-unknown-linux-musl',
      'codex-x86_64-unknown-linux-gnu',
      'codex-aarch64-unknown-linux-musl',
      'codex-aarch64-unknown-linux-gnu',
      'codex-x86_64-apple-darwin',
      'codex-aarch64-apple-darwin',
    ],
    packages: ['@openai/codex'],
    // npm installs a small node program that starts the native one and waits for it.
    launcherWhenInterpreted: true,
    sessionFlags: ['resume', '--resume'],
    valueFlags: ['-c', '--config', '-m', '--model', '-p', '--profile', '-s', '-a', '-C', '--cd', '-i'],
    forms: [
      { when: { command: ['mcp-server'] }, kind: 'mcp', family: 'codex-mcp', name: 'codex mcp-server' },
      { when: { start: [['mcp', 'serve']] }, kind: 'mcp', family: 'codex-mcp', name: 'codex mcp serve' },
      {
        when: { command: ['app-server'], flag: ['--managed-daemon'] },
        role: 'codex-daemon',
        name: 'codex daemon',
      },
      { when: { start: [['app-server', 'daemon']] }, role: 'codex-daemon', name: 'codex daemon' },
      { when: { command: ['app-server'] }, name: 'codex app-server', role: 'session-host' },
      { when: { command: ['exec', 'e'] }, name: 'codex exec' },
    ],
  },
];
