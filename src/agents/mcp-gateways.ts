import { type Family, list } from './families.ts';

/** Programs that run or relay somebody else's MCP server, and tools that are a server under one command. */
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
