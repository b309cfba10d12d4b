import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { prepareKnowledge, recognise } from '../../../src/judge/recognise/recognise.ts';
import { KINDS, type Recognition } from '../../../src/model/kind.ts';

const UUID = '9c33ca78-1244-4e57-8cc8-184e144261c7';

type Expected = Partial<Recognition>;
interface Process {
  comm?: string;
  argv: readonly string[] | string | null;
  exe?: string;
}
type Row = readonly [process: Process | string, expected: Expected];

/** A text is an argv split at single spaces: the way ps shows it. */
const seen = (process: Process | string): Recognition => {
  const { comm = '', argv, exe = null } = typeof process === 'string' ? { argv: process } : process;
  return recognise({ comm, exe, argv: typeof argv === 'string' ? argv.split(' ') : argv });
};

const title = (process: Process | string): string =>
  typeof process === 'string' ? process : JSON.stringify(process);

const each = (rows: readonly Row[]): void => {
  for (const [process, expected] of rows) {
    test(title(process), () => expect(seen(process)).toMatchObject(expected));
  }
};

const CLAUDE = { kind: 'agent', agent: 'claude', role: null, name: 'claude' } as const;
const DAEMON = { kind: 'agent', agent: 'claude', role: 'claude-daemon' } as const;

describe('claude in every shape its installers give it', () =>
  each([
    ['claude', CLAUDE],
    ['claude --dangerously-skip-permissions', CLAUDE],
    ['/home/u/.local/bin/claude -p hi', CLAUDE],
    [{ comm: '2.1.325', argv: ['claude'], exe: '/home/u/.local/share/claude/versions/2.1.325' }, CLAUDE],
    ['/home/u/.local/share/claude/versions/2.1.201 --resume', CLAUDE],
    [{ argv: ['cc', '-p'], exe: '/home/u/.local/share/claude/versions/2.1.201 (deleted)' }, CLAUDE],
    [{ comm: '2.1.90', argv: null }, CLAUDE],
    [{ comm: 'claude', argv: null }, CLAUDE],
    ['/usr/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe', CLAUDE],
    ['node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js --print', CLAUDE],
    ['node --max-old-space-size=8192 /x/node_modules/@anthropic-ai/claude-code/cli.js', CLAUDE],
    ['bun /x/node_modules/@anthropic-ai/claude-agent-sdk/cli.js', CLAUDE],
    ['node /home/u/.nvm/versions/node/v20.1.0/bin/claude', CLAUDE],
    ['/bin/sh /tmp/fixture/claude --resume', CLAUDE],
    ['bash ./claude', CLAUDE],
    ['python3.12 /tmp/claude', CLAUDE],
    [{ comm: 'claude', argv: ['claude', '', '', ''], exe: '/usr/bin/node' }, CLAUDE],
    [{ argv: ['claude    '] }, CLAUDE],
    [
      '/home/u/.vscode-server/extensions/anthropic.claude-code-2.1.1-linux-x64/resources/native-binary/claude',
      CLAUDE,
    ],
    [
      {
        argv: [
          '/Users/u/Library/Application Support/Claude/claude-code/2.1/claude.app/Contents/MacOS/claude',
        ],
      },
      CLAUDE,
    ],
    [
      '/Users/u/Library/Application Support/Claude/claude-code/2.1/claude.app/Contents/MacOS/claude -p',
      CLAUDE,
    ],
    [{ comm: '.claude-wrapped', argv: ['/nix/store/x/bin/.claude-wrapped'] }, CLAUDE],
    ['claude.orig', CLAUDE],
    ['node /x/node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs', { kind: 'wrapper', wraps: null }],
    ['claude mcp serve', { kind: 'mcp', agent: null, name: 'claude mcp serve' }],
    ['claude --claude-in-chrome-mcp', { kind: 'mcp', agent: null, role: null }],
    ['claude --chrome-native-host', { kind: 'other', agent: null, role: null }],
    ['claude --bg fix-it', { kind: 'agent', role: 'background-session' }],
    [{ argv: ['claude daemon', '', ''] }, { ...DAEMON, name: 'claude daemon' }],
    ['claude daemon run --origin transient', { ...DAEMON, name: 'claude daemon' }],
    [{ argv: ['claude bg-pty-host'] }, { ...DAEMON, name: 'claude bg-pty-host' }],
    [{ argv: ['claude bg-spare', '--x'] }, { ...DAEMON, name: 'claude bg-spare' }],
    ['/x/claude/versions/2.1.3 --daemon-worker bg', DAEMON],
    ['/x/claude/versions/2.1.3 --bg-pty-host /tmp/s 80 24 -- /x/claude/versions/2.1.3', DAEMON],
    ['/x/claude/versions/2.1.3 --bg-spare /tmp/a.sock', DAEMON],
  ]));

describe('session ids are taken only where a session id is expected', () =>
  each([
    [`claude --resume ${UUID}`, { sessionIds: [UUID] }],
    [`claude --resume=${UUID} -p x`, { sessionIds: [UUID] }],
    [`claude -r ${UUID} --session-id ${UUID}`, { sessionIds: [UUID] }],
    ['claude --resume my-name', { sessionIds: [] }],
    [`claude --resume ${UUID} --fork-session`, { sessionIds: [], forkedFrom: [UUID] }],
    [
      `claude --fork-session -r ${UUID} --session-id 11111111-2222-4333-8444-555555555555`,
      { sessionIds: ['11111111-2222-4333-8444-555555555555'], forkedFrom: [UUID] },
    ],
    [`claude -p ${UUID}`, { sessionIds: [] }],
    [`codex resume ${UUID}`, { sessionIds: [UUID] }],
    ['opencode --session ses_4f2a9bc1d', { sessionIds: ['ses_4f2a9bc1d'] }],
    [`vim --resume ${UUID}`, { sessionIds: [] }],
  ]));

describe('other agents, and their launchers', () =>
  each([
    ['codex -s read-only', { kind: 'agent', agent: 'codex' }],
    ['node /opt/homebrew/bin/codex -s read-only', { kind: 'wrapper', agent: null, wraps: 'agent' }],
    ['node /x/node_modules/@openai/codex/bin/codex.js', { kind: 'wrapper', wraps: 'agent' }],
    ['/x/@openai/codex/vendor/x86_64-unknown-linux-musl/codex/codex', { kind: 'agent', agent: 'codex' }],
    ['codex -c a=b app-server', { kind: 'agent', name: 'codex app-server' }],
    ['codex mcp-server', { kind: 'mcp', agent: null }],
    ['node /usr/bin/codex mcp-server', { kind: 'wrapper', wraps: 'mcp' }],
    ['node /usr/bin/gemini', { kind: 'agent', agent: 'gemini' }],
    ['node --max-old-space-size=4096 /x/node_modules/@google/gemini-cli/dist/index.js', { agent: 'gemini' }],
    ['opencode', { kind: 'agent', agent: 'opencode' }],
    ['node /usr/bin/opencode', { kind: 'wrapper', wraps: 'agent' }],
    ['/x/opencode-linux-x64/bin/opencode serve', { kind: 'agent', name: 'opencode serve' }],
    ['python3 /home/u/.local/bin/aider --model x', { agent: 'aider' }],
    [
      '/x/cursor-agent/versions/2025.1/node --use-system-ca /x/cursor-agent/versions/2025.1/index.js',
      { agent: 'cursor-agent' },
    ],
    ['copilot --resume', { agent: 'copilot' }],
    ['copilot svc deploy', { kind: 'other', agent: null }],
    ['goose session', { agent: 'goose' }],
    ['goose up', { kind: 'other', agent: null }],
    [{ argv: ['goose'], exe: '/x/node_modules/@aaif/goose-binary-linux-x64/bin/goose' }, { agent: 'goose' }],
    ['/x/@aaif/goose-binary-linux-x64/bin/goose acp', { agent: 'goose', role: 'session-host' }],
    [
      { comm: 'goose-tui', argv: ['goose-tui'] },
      { kind: 'wrapper', agent: null },
    ],
    ['opencode-cli serve --port 4096', { agent: 'opencode', role: 'session-host' }],
    [
      'opencode-cli --print-logs --log-level WARN serve --hostname 127.0.0.1 --port 5777',
      { agent: 'opencode', role: 'session-host' },
    ],
    ['opencode --prompt serve', { agent: 'opencode', role: null }],
    ['kilo --log-level WARN serve', { agent: 'kilo', role: 'session-host' }],
    ['node /x/node_modules/.bin/kilo', { kind: 'wrapper', wraps: 'agent' }],
    ['/x/node_modules/@kilocode/cli/bin/.kilo', { agent: 'kilo' }],
    ['kilo notes.txt', { kind: 'other', agent: null }],
    [{ comm: 'kimi-code', argv: ['kimi-code', '', ''], exe: '/usr/bin/node' }, { agent: 'kimi' }],
    ['node /x/node_modules/.bin/kimi', { agent: 'kimi' }],
    ['node /x/node_modules/.bin/qwen', { agent: 'qwen' }],
    ['/usr/bin/node --expose-gc /x/node_modules/@qwen-code/qwen-code/cli.js', { agent: 'qwen' }],
    [{ comm: 'pi', argv: ['pi', ''], exe: '/usr/bin/node' }, { agent: 'pi' }],
    ['node /x/node_modules/@earendil-works/pi-coding-agent/dist/cli.js', { agent: 'pi' }],
    ['./pi 1000', { kind: 'other', agent: null }],
    ['python3 pi', { kind: 'other', agent: null }],
    ['cline', { agent: 'cline' }],
    [
      '/x/@cline/cli-linux-x64/bin/cline --cline-hub-daemon --cwd /w --host 127.0.0.1 --port 25463',
      { agent: 'cline', name: 'cline hub', role: 'session-hub' },
    ],
    ['node /x/node_modules/.bin/cn', { agent: 'continue' }],
    ['node /usr/lib/node_modules/@continuedev/cli/dist/cn.js serve', { agent: 'continue', name: 'cn serve' }],
    ['./cn', { kind: 'other', agent: null }],
    [{ comm: 'grok', argv: ['grok'], exe: '/x/@xai-official/grok/bin/grok-native' }, { agent: 'grok' }],
    ['node /x/node_modules/.bin/grok', { agent: 'grok' }],
    ['grok -f access.grok', { kind: 'other', agent: null }],
    ['node /x/node_modules/.bin/qodercli', { agent: 'qoder' }],
    ['node /x/node_modules/.bin/letta', { agent: 'letta' }],
    ['letta server', { kind: 'other', agent: null }],
    ['node /x/node_modules/.bin/happy', { kind: 'wrapper', agent: null }],
    ['node --no-warnings /x/node_modules/happy/dist/index.mjs', { kind: 'wrapper', agent: null }],
    ['/x/node_modules/@ampcode/cli-linux-x64/amp', { agent: 'amp' }],
    [
      { comm: 'amp', argv: ['amp'], exe: '/x/node_modules/@ampcode/cli/bin/amp.exe' },
      { kind: 'agent', agent: 'amp' },
    ],
    [
      { comm: 'amp', argv: ['/x/node_modules/.bin/amp', 'threads'], exe: '/x/@ampcode/cli/bin/amp.exe' },
      { kind: 'agent', agent: 'amp' },
    ],
    ['amp song.wav', { kind: 'other', agent: null }],
    ['node /x/node_modules/.bin/crush', { kind: 'wrapper', wraps: 'agent' }],
    ['/x/node_modules/@charmland/crush/bin/crush', { kind: 'agent', agent: 'crush' }],
    ['node /x/node_modules/.bin/codex-acp', { kind: 'wrapper', wraps: 'agent' }],
    ['/x/@zed-industries/codex-acp-linux-x64/bin/codex-acp', { agent: 'codex', role: 'session-host' }],
    ['node /x/node_modules/@zed-industries/claude-agent-acp/dist/index.js', { kind: 'wrapper' }],
  ]));

describe('what only speaks of claude is nobody’s agent', () => {
  const rows: readonly (readonly [Process | string, Recognition['kind']])[] = [
    ['vim CLAUDE.md', 'other'],
    ['vim claude', 'other'],
    ['grep claude', 'other'],
    ['grep -r claude /home/u', 'other'],
    ['tail -f /home/u/.claude/x', 'other'],
    ['node /home/claude/server.js', 'other'],
    ['/home/claude/bin/thing', 'other'],
    ['sudo -u claude bash', 'wrapper'],
    ['sudo -u claude sleep 1', 'wrapper'],
    ['less claude', 'other'],
    ['cat claude.log', 'other'],
    ['ssh host claude', 'other'],
    ['python claude.py', 'other'],
    ['node claude-proxy.js', 'other'],
    ['claude-monitor', 'other'],
    ['pgrep -f claude', 'other'],
    ['git commit -m claude', 'other'],
    ['node -e claude', 'other'],
    ['python -c claude', 'other'],
    ['bash -i', 'shell'],
    ['-zsh', 'shell'],
    ['/Applications/Claude.app/Contents/MacOS/Claude', 'other'],
    ['/x/node_modules/@anthropic-ai/claude-code/vendor/ripgrep/x64-linux/rg --files', 'other'],
    [{ argv: ['sshd: claude@pts/0'] }, 'other'],
    [{ argv: ['postgres: claude claude [local] idle'], exe: '/usr/lib/postgresql/bin/postgres' }, 'other'],
    [{ argv: ['next-server claude'], exe: '/usr/bin/node' }, 'other'],
    [{ argv: ['zsh', '-c', "source /x/snapshot.sh && eval 'claude -p hi' < /dev/null"] }, 'wrapper'],
    [{ argv: ['bash', '-c', 'eval "claude"'] }, 'wrapper'],
    [{ argv: ['bash', '-c', "'claude' -p"] }, 'wrapper'],
    [{ argv: ['sh', '-c', 'cd x; claude'] }, 'wrapper'],
  ];
  for (const [process, kind] of rows) {
    test(title(process), () => {
      const result = seen(process);
      expect(result).toMatchObject({ kind, agent: null });
      expect(result.wraps).not.toBe('agent');
    });
  }
});

describe('shells and wrappers say what they carry', () =>
  each([
    [{ argv: ['sh', '-c', 'mcp-server-github'] }, { kind: 'wrapper', name: 'sh -c', wraps: 'mcp' }],
    [{ argv: ['sh', '-c', "mcp-server-filesystem '/a b'"] }, { kind: 'wrapper', wraps: 'mcp' }],
    [{ argv: ['bash', '-lc', 'exec lake build'] }, { kind: 'wrapper', name: 'bash -c', wraps: 'lake' }],
    [{ argv: ['/bin/zsh', '-c', 'claude -p hi'] }, { kind: 'wrapper', wraps: 'agent' }],
    ['bash /srv/deploy.sh claude', { kind: 'shell', name: 'bash deploy.sh', wraps: null }],
    ['npm exec @playwright/mcp@latest', { kind: 'wrapper', name: 'npm exec @playwright/mcp', wraps: 'mcp' }],
    [{ argv: ['npm exec @playwright/mcp --isolated  HOME=/home/u'] }, { kind: 'wrapper', wraps: 'mcp' }],
    [{ comm: 'npm exec @playw', argv: null }, { kind: 'wrapper' }],
    ['npx -y @modelcontextprotocol/server-filesystem /x', { kind: 'wrapper', wraps: 'mcp' }],
    ['node /usr/bin/npx -y chroma-mcp', { kind: 'wrapper', name: 'npx chroma-mcp', wraps: 'mcp' }],
    ['node /usr/lib/node_modules/npm/bin/npx-cli.js -y @x/some-mcp', { kind: 'wrapper', wraps: 'mcp' }],
    ['npx -p @playwright/mcp some-bin', { kind: 'wrapper', wraps: 'mcp' }],
    ['npx -y @anthropic-ai/claude-code', { kind: 'wrapper', wraps: 'agent' }],
    ['npx cowsay claude', { kind: 'wrapper', wraps: null }],
    ['npm run dev', { kind: 'wrapper', name: 'npm run dev', wraps: null }],
    ['npm install claude', { kind: 'other' }],
    ['bun run dev', { kind: 'wrapper', name: 'bun run', wraps: null }],
    ['bun run server.ts', { kind: 'other', name: 'bun server.ts' }],
    ['uv run --with mcp mcp run /x/server.py', { kind: 'wrapper', wraps: 'mcp' }],
    ['npx claude-flow@alpha mcp start', { kind: 'wrapper', wraps: 'mcp', agent: null }],
    ['docker mcp gateway run', { kind: 'mcp' }],
    ['docker mcp catalog ls', { kind: 'other' }],
    ['uvx lean-lsp-mcp', { kind: 'wrapper', name: 'uvx lean-lsp-mcp', wraps: 'lean-lsp' }],
    ['uv tool uvx lean-lsp-mcp --transport sse', { kind: 'wrapper', wraps: 'lean-lsp', transport: 'http' }],
    ['uvx --from git+https://h/oraios/serena serena start-mcp-server', { kind: 'wrapper', wraps: 'mcp' }],
    ['uv run --directory /x python -m lean_lsp_mcp', { kind: 'wrapper', wraps: 'lean-lsp' }],
    ['uv run -m lean_lsp_mcp', { kind: 'wrapper', wraps: 'lean-lsp' }],
    ['uv run train_mcp_model.py', { kind: 'wrapper', wraps: null, mentionsMcp: true }],
    ['bun x @upstash/context7-mcp', { kind: 'wrapper', name: 'bun x @upstash/context7-mcp', wraps: 'mcp' }],
    ['bunx @upstash/context7-mcp', { kind: 'wrapper', name: 'bunx @upstash/context7-mcp', wraps: 'mcp' }],
    ['pnpm dlx @upstash/context7-mcp', { kind: 'wrapper', wraps: 'mcp' }],
    ['yarn dlx @upstash/context7-mcp', { kind: 'wrapper', wraps: 'mcp' }],
    ['node node_modules/.bin/tsx src/operator-mcp-server.ts', { kind: 'wrapper', wraps: 'mcp' }],
    ['node /x/node_modules/tsx/dist/cli.mjs src/a.ts', { kind: 'wrapper', wraps: null }],
    ['sudo -u bob -E claude -p x', { kind: 'wrapper', name: 'sudo claude', wraps: 'agent' }],
    ['timeout -k 5 600 lake build', { kind: 'wrapper', name: 'timeout lake', wraps: 'lake' }],
    ['nohup claude -p x', { kind: 'wrapper', wraps: 'agent' }],
    ['nice -n 10 lake build', { kind: 'wrapper', wraps: 'lake' }],
    ['env A=1 -u B B=2 npx -y chroma-mcp', { kind: 'wrapper', wraps: 'mcp' }],
    ['setsid stdbuf -oL claude', { kind: 'wrapper', wraps: 'agent' }],
    ['tee claude', { kind: 'wrapper', wraps: null }],
    ['sudo vim CLAUDE.md', { kind: 'wrapper', wraps: null }],
    ['sudo -u claude bash', { kind: 'wrapper', wraps: 'shell' }],
    ['xargs -n 1 claude', { kind: 'wrapper', wraps: 'agent' }],
    [{ argv: ['script', '-q', '-c', 'claude', '/tmp/log'] }, { kind: 'wrapper', wraps: 'agent' }],
    ['doas -u bob claude', { kind: 'wrapper', wraps: 'agent' }],
    ['time lake build', { kind: 'wrapper', wraps: 'lake' }],
    ['docker run -i --rm -e TOKEN mcp/fetch', { kind: 'wrapper', wraps: 'mcp' }],
    ['docker run -i ghcr.io/github/github-mcp-server', { kind: 'wrapper', wraps: 'mcp' }],
    ['relay.js --detached --grace-time 0', { kind: 'wrapper', role: 'declared-daemon' }],
    ['node /x/relay.js --detached', { kind: 'wrapper', role: 'declared-daemon' }],
    ['node /x/relay.js', { kind: 'other' }],
  ]));

describe('MCP servers by name and by shape', () =>
  each([
    ['mcp-server-git', { kind: 'mcp', transport: 'stdio' }],
    ['node /x/node_modules/.bin/mcp-server-filesystem /tmp', { kind: 'mcp' }],
    ['node /x/node_modules/@modelcontextprotocol/server-memory/dist/index.js', { kind: 'mcp' }],
    ['node /x/node_modules/server-memory/dist/index.js', { kind: 'other' }],
    ['node /x/node_modules/@playwright/mcp/cli.js', { kind: 'mcp', family: 'playwright-mcp' }],
    ['node /x/node_modules/@playwright/mcp/cli.js --port 8931', { transport: 'http' }],
    ['node /x/node_modules/@stripe/mcp/dist/index.js', { kind: 'mcp', name: '@stripe/mcp' }],
    [
      'node --require /x/preflight.cjs --import file:///x/loader.mjs src/operator-mcp-server.ts',
      { kind: 'mcp' },
    ],
    ['bun run /x/my-mcp-server.ts', { kind: 'mcp' }],
    ['deno run -A npm:@supabase/mcp-server-supabase@1', { kind: 'mcp' }],
    ['python -m mcp_server_fetch', { kind: 'mcp' }],
    ['python3 /home/u/.local/bin/mcp-atlassian', { kind: 'mcp' }],
    [
      { comm: 'chrome-devtools', argv: null },
      { kind: 'mcp', name: 'chrome-devtools-mcp' },
    ],
    [{ argv: ['chrome-devtools-mcp'], exe: '/usr/bin/node' }, { kind: 'mcp' }],
    ['github-mcp-server stdio', { kind: 'mcp', transport: 'stdio' }],
    ['github-mcp-server http', { kind: 'mcp', transport: 'http' }],
    ['/x/python3 /home/u/.local/bin/serena start-mcp-server', { kind: 'mcp', family: 'serena' }],
    ['/home/u/.serena/language_servers/static/K/jre/bin/java -cp a Main', { kind: 'mcp' }],
    ['node /home/u/.serena/language_servers/ts/lib/cli.mjs --stdio', { kind: 'mcp' }],
    ['bun /x/claude-mem/9.0.0/scripts/worker-service.cjs --daemon', { kind: 'mcp', role: 'declared-daemon' }],
    ['node /x/claude-mem/9.0.0/scripts/mcp-server.cjs', { kind: 'mcp', family: 'claude-mem', role: null }],
    ['node /x/node_modules/.bin/supergateway --stdio x', { kind: 'mcp', transport: 'http' }],
    ['node /x/.bin/mcp-remote https://h/sse --transport sse', { kind: 'mcp', transport: 'stdio' }],
    ['foo-mcp --transport=streamable-http', { kind: 'mcp', transport: 'http' }],
    ['foo-mcp -t sse', { kind: 'mcp', transport: 'http' }],
    ['foo-mcp --http', { kind: 'mcp', transport: 'http' }],
    ['foo-mcp --transport stdio', { kind: 'mcp', transport: 'stdio' }],
  ]));

describe('what only speaks of mcp is no server, but says so', () =>
  each([
    ['python mcp_analysis.py', { kind: 'other', mentionsMcp: true }],
    [
      'python3 /home/u/train_mcp_model.py',
      { kind: 'other', mentionsMcp: true, name: 'python train_mcp_model.py' },
    ],
    ['python mcp_server.py', { kind: 'other', mentionsMcp: true }],
    ['python -m train_mcp', { kind: 'other', mentionsMcp: true }],
    ['node /home/u/my-mcp/dist/index.js', { kind: 'other', mentionsMcp: true }],
    ['some-tool run mcp', { kind: 'other', mentionsMcp: true }],
    ['some-tool --mcp', { kind: 'other', mentionsMcp: true }],
    ['mcp-inspector', { kind: 'other', mentionsMcp: true }],
    ['grep -r mcp /x', { kind: 'other', mentionsMcp: false }],
    ['vim foo-mcp', { kind: 'other', mentionsMcp: false }],
    [{ argv: ['echo-tool', 'a long text about mcp servers'] }, { kind: 'other', mentionsMcp: false }],
    ['tcmcpx', { kind: 'other', mentionsMcp: false }],
  ]));

describe('Lean and what shares its names', () =>
  each([
    ['/x/bin/python /x/bin/lean-lsp-mcp', { kind: 'lean-lsp', transport: 'stdio', name: 'lean-lsp-mcp' }],
    [
      { comm: 'lean-lsp-mcp', argv: '/x/python3.12 /x/bin/lean-lsp-mcp --transport streamable-http' },
      { kind: 'lean-lsp', transport: 'http' },
    ],
    ['python -m lean_lsp_mcp', { kind: 'lean-lsp' }],
    ['lake build', { kind: 'lake', role: 'lake-build', name: 'lake build' }],
    ['lake -d sub -KCI build Foo', { kind: 'lake', role: 'lake-build' }],
    ['lake serve -- -Dserver.reportDelayMs=0', { kind: 'lake', role: 'lake-serve' }],
    ['lake exe cache get', { kind: 'lake', role: null }],
    ['lake setup-file X.lean', { kind: 'lake', role: null, name: 'lake setup-file' }],
    [{ comm: 'lake.orig', argv: ['/x/bin/lake', 'build'], exe: '/x/bin/lake.orig' }, { role: 'lake-build' }],
    [
      { comm: 'lake.orig', argv: null },
      { kind: 'lake', name: 'lake' },
    ],
    ['[lake.orig] <defunct>', { kind: 'lake' }],
    ['/nix/x/.lake-wrapped serve', { kind: 'lake', role: 'lake-serve' }],
    ['/home/u/.elan/toolchains/leanprover--lean4---v4.27.0/bin/lake', { kind: 'lake', role: null }],
    ['lake ingest data.csv', { kind: 'other', role: null }],
    ['lean --server -Dserver.x=1', { kind: 'lean', role: 'lean-server', name: 'lean --server' }],
    [
      '/x/lean --worker -Da=b file:///p/Foo/X.lean',
      { kind: 'lean', role: 'lean-worker', name: 'lean --worker X.lean' },
    ],
    ['lean Foo.lean -o Foo.olean', { kind: 'lean', role: null, name: 'lean Foo.lean' }],
    [{ comm: 'lean', argv: null }, { kind: 'lean' }],
    ['lean deploy', { kind: 'other' }],
    ['lean-ctx serve', { kind: 'other', mentionsMcp: false }],
  ]));

describe('tmux is never what its argv speaks of', () =>
  each([
    [
      { comm: 'tmux: server', argv: 'tmux new-session -d -s agent_7 claude' },
      { kind: 'tmux', role: 'tmux-server' },
    ],
    [
      { comm: 'tmux: client', argv: 'tmux attach -t claude' },
      { kind: 'tmux', role: 'tmux-client' },
    ],
    ['tmux new-session -d -s claude claude', { kind: 'tmux', role: 'tmux-server', agent: null }],
    ['tmux -L work attach -t claude', { kind: 'tmux', role: 'tmux-client' }],
  ]));

describe('browsers count only when something drives them', () =>
  each([
    ['/opt/google/chrome/chrome --remote-debugging-port=9222', { kind: 'browser' }],
    [{ argv: ['/opt/google/chrome/chrome --type=renderer --headless'] }, { kind: 'browser' }],
    ['/home/u/.cache/ms-playwright/chromium-1/chrome-linux/chrome --type=zygote', { kind: 'browser' }],
    ['chromium --user-data-dir=/home/u/.cache/ms-playwright/mcp-chrome', { kind: 'browser' }],
    ['/opt/ms-playwright/tool', { kind: 'browser' }],
    // A name that only ends like a known one is another directory.
    ['/opt/my-ms-playwright/tool', { kind: 'other' }],
    ['headless_shell', { kind: 'browser' }],
    ['/usr/lib/firefox/firefox -headless', { kind: 'browser' }],
    ['/opt/google/chrome/chrome', { kind: 'other', anchor: 'desktop-app' }],
    ['/usr/lib/firefox/firefox', { kind: 'other', anchor: 'desktop-app' }],
    [{ comm: 'chrome', argv: null }, { kind: 'other' }],
    ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome --headless', { kind: 'browser' }],
  ]));

describe('where a climb ends well, and where orphans go', () =>
  each([
    [{ argv: ['sshd: u@pts/0'] }, { anchor: 'remote-login', name: 'sshd' }],
    ['/usr/libexec/gnome-terminal-server', { anchor: 'terminal' }],
    ['SCREEN -S x', { anchor: 'terminal' }],
    ['/usr/sbin/CRON -f', { anchor: 'cron' }],
    ['login -p', { anchor: 'login' }],
    ['nvim x', { kind: 'other', anchor: 'editor' }],
    ['sh /home/u/.vscode-server/bin/abc/server.sh', { anchor: 'editor' }],
    [
      '/home/u/.vscode-server/bin/a/node /home/u/.vscode-server/bin/a/out/server-main.js',
      { anchor: 'editor' },
    ],
    [
      '/home/u/.vscode-server/bin/a/node /home/u/.vscode-server/bin/a/out/bootstrap-fork --type=extensionHost',
      { anchor: 'editor' },
    ],
    ['/home/u/.vscode-server/bin/a/node /home/u/app.js', { anchor: null }],
    ['/opt/x/Python.app/Contents/MacOS/Python /x/app.py', { kind: 'other', anchor: null }],
    ['/opt/x/Python.app/Contents/MacOS/Python /x/bin/chroma-mcp', { kind: 'mcp' }],
    ['/Applications/ChatGPT.app/Contents/MacOS/ChatGPT', { anchor: 'desktop-app' }],
    [
      { argv: ['PM2 v5.3.0: God Daemon (/home/u/.pm2)'], exe: '/usr/bin/node' },
      { anchor: 'service-manager' },
    ],
    ['/usr/bin/containerd-shim-runc-v2 -namespace moby', { anchor: 'service-manager' }],
    ['/usr/lib/systemd/systemd --user', { adoptsOrphans: true, anchor: null }],
    ['/usr/lib/systemd/systemd --system', { adoptsOrphans: false, anchor: 'service-manager' }],
    ['/sbin/init splash', { adoptsOrphans: false, anchor: 'service-manager', role: null }],
    ['/sbin/launchd', { adoptsOrphans: true }],
    [
      { comm: 'init', argv: ['/init'] },
      { adoptsOrphans: true, role: 'wsl-plumbing' },
    ],
    [
      { comm: 'Relay(41)', argv: ['/init'] },
      { adoptsOrphans: true, role: 'wsl-plumbing' },
    ],
    [{ comm: 'SessionLeader', argv: ['/init'] }, { role: 'wsl-plumbing' }],
    ['Relay(318)', { adoptsOrphans: true, role: 'wsl-plumbing' }],
    ['localhost --port-tracker-fd 8', { role: 'wsl-plumbing' }],
  ]));

describe('names are short and human', () =>
  each([
    ['/usr/sbin/nginx -g x', { name: 'nginx' }],
    [{ argv: ['nginx: worker process'] }, { name: 'nginx' }],
    ['/usr/bin/node /srv/app/server.js', { name: 'node server.js' }],
    ['python3.12 -m http.server', { name: 'python -m http.server' }],
    [{ comm: 'kworker/0:1', argv: null }, { name: 'kworker/0:1' }],
    [{ comm: 'kthreadd', argv: [] }, { name: 'kthreadd' }],
  ]));

describe('servers that the user configured', () => {
  const knowledge = prepareKnowledge({
    recognisers: [],
    servers: [
      {
        name: 'notes',
        command: 'npx',
        args: ['-y', '@me/notes@latest', '--root', '/n'],
        source: '.claude.json',
        rank: 'user',
      },
      {
        name: 'local',
        command: 'node',
        args: ['/srv/tool/index.js', 'a'],
        source: '.claude.json',
        rank: 'user',
      },
      {
        name: 'plain',
        command: '/opt/bin/plainsrv',
        args: ['--stdio'],
        source: '.claude.json',
        rank: 'user',
      },
      {
        name: 'uv',
        command: 'uvx',
        args: ['--from', 'pkg', 'toolsrv'],
        source: '.claude.json',
        rank: 'user',
      },
      { name: 'bare', command: 'node', args: [], source: '.claude.json', rank: 'user' },
      { name: 'trick', command: 'claude', args: [], source: '.claude.json', rank: 'user' },
    ],
  });
  const look = (text: string): Recognition =>
    recognise({ comm: '', argv: text.split(' '), exe: null }, knowledge);
  const rows: readonly (readonly [string, Expected])[] = [
    ['npx -y @me/notes@latest --root /n', { kind: 'wrapper', wraps: 'mcp' }],
    ['npm exec @me/notes@latest --root /n', { kind: 'wrapper', wraps: 'mcp' }],
    ['node /c/node_modules/.bin/notes --root /n', { kind: 'mcp', name: 'mcp notes' }],
    ['node /c/node_modules/@me/notes/dist/index.js --root /n', { kind: 'mcp' }],
    ['node /c/node_modules/@me/notes/dist/index.js --root /other', { kind: 'other' }],
    ['node /c/node_modules/@me/notes/dist/index.js', { kind: 'other' }],
    ['/usr/bin/node /srv/tool/index.js a', { kind: 'mcp', name: 'mcp local' }],
    ['/usr/bin/node /srv/tool/index.js a b', { kind: 'other' }],
    ['node /srv/other/index.js a', { kind: 'other' }],
    ['plainsrv --stdio', { kind: 'mcp' }],
    ['plainsrv', { kind: 'other' }],
    ['python /x/bin/toolsrv', { kind: 'mcp' }],
    ['node', { kind: 'other' }],
    ['node server.js', { kind: 'other' }],
    ['claude', { kind: 'agent' }],
  ];
  for (const [text, expected] of rows) test(text, () => expect(look(text)).toMatchObject(expected));
});

describe('how much a server’s configuration says', () => {
  const at = (rank: 'user' | 'project', command: string, ...args: string[]) => ({
    name: 'y',
    command,
    args,
    source: '/p/.mcp.json',
    rank,
  });
  /** As a file has it: the agent expands it, we never do. */
  const VARIABLE = ['$', '{Y}'].join('');
  const rows: readonly (readonly [string, ReturnType<typeof at>, string, Expected])[] = [
    ['the exact words of a project', at('project', 'sleep', '777'), 'sleep 777', { known: 'project' }],
    ['the exact words of the user', at('user', 'plainsrv', '-x'), 'plainsrv -x', { known: 'user' }],
    ['a variable alone says nothing', at('project', 'sleep', VARIABLE), 'sleep 777', { kind: 'other' }],
    ['nor does the user’s', at('user', 'sleep', VARIABLE), 'sleep 777', { kind: 'other' }],
    ['nor do two', at('user', 'cmp', VARIABLE, VARIABLE), 'cmp a b', { kind: 'other' }],
    ['nor one of a bare script', at('user', 'node', 'x.js', VARIABLE), 'node x.js a', { kind: 'other' }],
    [
      'it stands beside a literal word',
      at('user', 'srv', '--root', VARIABLE),
      'srv --root /n',
      { kind: 'mcp' },
    ],
    ['or behind one', at('user', 'srv', `--root=${VARIABLE}`), 'srv --root=/n', { kind: 'mcp' }],
    ['or after a package', at('user', 'npx', 'notes', VARIABLE), 'npx notes /n', { wraps: 'mcp' }],
    ['never for no argument', at('user', 'srv', '--root', VARIABLE), 'srv --root', { kind: 'other' }],
    ['never for two', at('user', 'srv', '--root', VARIABLE), 'srv --root a b', { kind: 'other' }],
    ['never for an empty piece', at('user', 'srv', `--root=${VARIABLE}`), 'srv --root=', { kind: 'other' }],
    ['never as the program', at('user', VARIABLE, '--root'), 'srv --root', { kind: 'other' }],
    ['each for a piece', at('user', 'srv', `-${VARIABLE}/${VARIABLE}.`), 'srv -a/b.', { kind: 'mcp' }],
    ['and no less', at('user', 'srv', `-${VARIABLE}/${VARIABLE}.`), 'srv -a/.', { kind: 'other' }],
    ['a wrapper passes it on', at('project', 'npx', '-y', 'notes'), 'npx -y notes', { known: 'project' }],
    ['a shell too', at('project', 'plainsrv', '-x'), 'sh -c plainsrv -x', { wraps: 'mcp', known: 'project' }],
  ];
  for (const [name, server, text, expected] of rows)
    test(`${name}: ${text}`, () => {
      const knowledge = prepareKnowledge({ recognisers: [], servers: [server] });
      expect(recognise({ comm: '', argv: text.split(' '), exe: null }, knowledge)).toMatchObject(expected);
    });
  test('an argument that is empty is none', () => {
    const servers = [at('user', 'srv', '--root', VARIABLE)];
    const knowledge = prepareKnowledge({ recognisers: [], servers });
    const argv = ['srv', '--root', '', '-x'];
    expect(recognise({ comm: '', argv: argv.slice(0, 3), exe: null }, knowledge).kind).toBe('other');
  });
  test('the user’s word counts before a project’s, whatever the order', () => {
    const servers = [at('project', 'plainsrv', '-x'), at('user', 'plainsrv', '-x')];
    const knowledge = prepareKnowledge({ recognisers: [], servers });
    expect(recognise({ comm: '', argv: ['plainsrv', '-x'], exe: null }, knowledge).known).toBe('user');
  });
  test('hundreds of servers of one program are no work', () => {
    const servers = Array.from({ length: 20_000 }, (_, n) =>
      at('user', 'sleep', '--', `${n}`, VARIABLE.repeat(9)),
    );
    const started = performance.now();
    const knowledge = prepareKnowledge({ recognisers: [], servers });
    expect(
      recognise({ comm: '', argv: ['sleep', '--', '19999', 'a'.repeat(9)], exe: null }, knowledge).kind,
    ).toBe('mcp');
    // Measured 60 ms; copying the list for each of them took 20 s.
    expect(performance.now() - started).toBeLessThan(3000);
  });
});

describe('a sub-command called mcp looks like a server', () =>
  each([
    ['foo mcp', { kind: 'mcp', known: 'command', name: 'foo mcp', saysStdio: false }],
    ['/opt/bin/foo mcp serve', { kind: 'mcp', known: 'command' }],
    ['foo mcp start --verbose', { kind: 'mcp', known: 'command' }],
    ['foo mcp stdio', { kind: 'mcp', known: 'command', saysStdio: true }],
    ['foo mcp --stdio', { kind: 'mcp', known: 'command', saysStdio: true }],
    ['foo mcp --port 3000 --http', { kind: 'mcp', transport: 'http' }],
    ['node /x/dist/foo.js mcp', { kind: 'mcp', known: 'command' }],
    ['node /x/node_modules/.bin/foo mcp serve', { kind: 'mcp', known: 'command' }],
    ['npx -y @me/foo mcp', { kind: 'wrapper', wraps: 'mcp', known: 'command' }],
    ['python /x/bin/foo mcp start', { kind: 'mcp', known: 'command' }],
    ['foo mcp list', { kind: 'other', known: null }],
    ['foo run mcp', { kind: 'other', known: null }],
    ['foo mcp-serve', { kind: 'other', known: null }],
    ['claude mcp', { kind: 'agent' }],
    ['codex mcp', { kind: 'agent' }],
    ['gemini mcp', { kind: 'agent' }],
    ['opencode mcp', { kind: 'agent' }],
    ['grep mcp', { kind: 'other' }],
    ['ssh mcp', { kind: 'other' }],
    ['ssh mcp start', { kind: 'other' }],
    ['make mcp', { kind: 'other' }],
    ['git mcp', { kind: 'other' }],
    ['brew mcp', { kind: 'other' }],
    ['pip3 mcp', { kind: 'other' }],
    ['yarn mcp', { kind: 'other' }],
    ['vim mcp', { kind: 'other' }],
    ['sleep mcp', { kind: 'other' }],
    ['claude-flow mcp start', { kind: 'mcp', known: 'list' }],
    ['mcp-server-git', { kind: 'mcp', known: 'shape' }],
    ['lean-lsp-mcp', { kind: 'lean-lsp', known: 'list' }],
    ['foo-mcp --transport stdio', { kind: 'mcp', saysStdio: true }],
    ['foo-mcp', { kind: 'mcp', saysStdio: false }],
    ['node /x/node_modules/.bin/supergateway --stdio x', { transport: 'http', saysStdio: false }],
  ]));

describe('a shell of the Bash tool shows the command it was asked for', () => {
  const SOURCE = 'source /home/u/.claude/shell-snapshots/snapshot-zsh-1763-ab.sh 2>/dev/null || true';
  const shell = (rest: string): Process => ({ argv: ['/bin/zsh', '-c', `${SOURCE} && ${rest}`] });
  const tail = `< /dev/null && pwd -P >| /tmp/claude-1-cwd`;
  each([
    [
      shell(`eval 'sleep 3001' ${tail}`),
      { kind: 'wrapper', role: 'bash-tool', name: '$ sleep 3001', wraps: null },
    ],
    [shell(`setopt NO_EXTENDED_GLOB && eval 'cd a && make' \\< /dev/null`), { name: '$ cd a && make' }],
    [shell(`eval ls ${tail}`), { name: '$ ls' }],
    [shell(`eval "echo 'x' \\"y\\"" ${tail}`), { name: `$ echo 'x' "y"` }],
    [shell(`eval 'echo '\\''x'\\''' ${tail}`), { name: `$ echo 'x'` }],
    [shell(`eval 'echo '"'"'x'"'"'' ${tail}`), { name: `$ echo 'x'` }],
    [shell(`eval 'a\n  b' ${tail}`), { name: '$ a b' }],
    // In a sandbox the whole text is quoted once more, and twice in the shell outside of it.
    [shell(`eval '"'"'sleep 3001'"'"' ${tail}`), { name: '$ sleep 3001' }],
    [shell(`eval '"'"'"'"'"'"'"'"'a b'"'"'"'"'"'"'"'"' ${tail}`), { name: '$ a b' }],
    [shell(`eval '"'"'echo '"'"'"'"'"'"'"'"'x y'"'"'"'"'"'"'"'"''"'"' ${tail}`), { name: `$ echo 'x y'` }],
    [
      {
        argv: ['/proc/self/fd/3', '/bin/bash', '-c', `exec 3<&-; ${SOURCE} && eval 'sleep 3001' ${tail}`],
        comm: '3',
        exe: '/home/u/.local/share/claude/versions/2.1.325',
      },
      { kind: 'wrapper', family: 'apply-seccomp', name: 'apply-seccomp bash', agent: null, role: null },
    ],
    [
      { argv: ['/proc/self/fd/3', 'mcp-server-git'], comm: '3' },
      { kind: 'other', wraps: null },
    ],
    // As ps prints it: one text, no quotes around the argument.
    [`/bin/bash -c ${SOURCE} && eval 'npm run dev' ${tail}`, { role: 'bash-tool', name: '$ npm run dev' }],
    // A server in the text is only text: what runs is seen below.
    [shell(`eval 'mcp-server-git' ${tail}`), { wraps: null, known: null }],
    [shell('true'), { role: null, name: 'zsh -c' }],
    [{ argv: ['/bin/zsh', '-c', `eval 'sleep 3001' ${tail}`] }, { role: null, name: 'zsh -c' }],
    [{ argv: ['/bin/zsh', '-c', `echo /shell-snapshots/snapshot-x && eval 'sleep 1'`] }, { role: null }],
    // As people paste it: with ~ for the home directory, and cut.
    [
      { argv: ['/bin/zsh', '-c', "source ~/.claude/shell-snapshots/snapshot-zsh-1.sh … && eval 'yes' …"] },
      { role: 'bash-tool', name: '$ yes' },
    ],
    [
      { argv: ['/bin/zsh', '-c', 'source', '~/.claude/shell-snapshots/snapshot-zsh-17…'] },
      { role: 'bash-tool', name: '$ …' },
    ],
    [{ argv: ['zsh', '-c', 'source ~/.claude/shell-snaps...'] }, { role: 'bash-tool', name: '$ …' }],
    [{ argv: ['zsh', '-c', 'source ~/.claude/other…'] }, { role: null }],
    [{ argv: ['grep', `${SOURCE} && eval 'x'`] }, { role: null }],
  ]);
});

describe('a daemon by its own declaration', () =>
  each([
    ['claude-flow daemon start --workers 3', { role: 'declared-daemon', kind: 'other' }],
    ['node /x/node_modules/.bin/claude-flow daemon start', { role: 'declared-daemon' }],
    ['node /x/node_modules/claude-flow/bin/cli.js --config c.json daemon start', { role: 'declared-daemon' }],
    ['foo daemon start', { role: 'declared-daemon', kind: 'other' }],
    ['foo daemon run', { role: 'declared-daemon' }],
    ['gpg-agent --homedir /h --use-standard-socket --daemon', { role: 'declared-daemon' }],
    ['node /x/foo-mcp --daemon', { role: 'declared-daemon', kind: 'mcp' }],
    ['foo daemon status', { role: null }],
    ['foo start daemon', { role: null }],
    ['claude-flow mcp start', { role: null, kind: 'mcp' }],
    ['grep -r --daemon', { role: null }],
  ]));

describe('recognisers of the user win over the built-in ones', () => {
  const knowledge = prepareKnowledge({
    servers: [],
    recognisers: [
      { name: 'house-agent', kind: 'agent', agent: 'house', program: 'house-*' },
      { name: 'my-claude-tool', kind: 'other', program: 'claude', args: ['--special'] },
      { name: 'index-server', kind: 'mcp', program: 'index.js', args: ['serve'] },
    ],
  });
  const look = (text: string): Recognition =>
    recognise({ comm: '', argv: text.split(' '), exe: null }, knowledge);
  test('a glob on the program', () =>
    expect(look('/opt/house-7 x')).toMatchObject({ kind: 'agent', agent: 'house' }));
  test('all words must be there', () => {
    expect(look('claude --special')).toMatchObject({ kind: 'other', agent: null, name: 'my-claude-tool' });
    expect(look('claude')).toMatchObject({ kind: 'agent', agent: 'claude' });
  });
  test('the script of an interpreter', () => {
    expect(look('node /x/index.js serve --http')).toMatchObject({ kind: 'mcp', transport: 'http' });
    expect(look('vim /x/index.js serve')).toMatchObject({ kind: 'other', family: 'editor' });
  });
});

describe('whatever a process calls itself', () => {
  const word = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.constantFrom(
      '-c',
      '--',
      '-m',
      'node',
      'npx',
      'sh',
      'uv',
      'env',
      'sudo',
      '...',
      '',
      ' ',
      '/',
      '-',
      '[',
      ':',
      '@',
      '@/',
    ),
  );
  const process = fc.record({
    comm: fc.string({ unit: 'binary', maxLength: 16 }),
    argv: fc.option(fc.array(word, { maxLength: 12 })),
    exe: fc.option(word),
  });
  const server = fc.record({
    name: word,
    command: word,
    args: fc.array(word, { maxLength: 4 }),
    source: word,
    rank: fc.constantFrom('user' as const, 'project' as const),
  });

  test('it gets an answer, never an exception', () => {
    fc.assert(
      fc.property(process, fc.array(server, { maxLength: 3 }), (p, servers) => {
        const result = recognise(p, prepareKnowledge({ recognisers: [], servers }));
        expect(KINDS).toContain(result.kind);
        expect(result.agent === null).toBe(result.kind !== 'agent');
        expect(result.kind === 'wrapper' || result.wraps === null).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test('a later argument that holds “claude” never makes an unknown program an agent', () => {
    const plain = fc.stringMatching(/^[a-z]{3,12}$/);
    fc.assert(
      fc.property(plain, fc.array(plain, { maxLength: 5 }), plain, (program, args, tail) => {
        const before = recognise({ comm: program, argv: [program, ...args], exe: `/usr/bin/${program}` });
        fc.pre(before.family === null && before.kind === 'other' && before.name === program);
        for (const extra of [
          'claude',
          `/x/claude/${tail}`,
          `--${tail}=claude`,
          'CLAUDE.md',
          `${tail} claude`,
        ]) {
          const after = recognise({
            comm: program,
            argv: [program, ...args, extra],
            exe: `/usr/bin/${program}`,
          });
          expect(after.kind).toBe('other');
        }
      }),
    );
  });

  test('five thousand unrelated processes are no work', () => {
    const processes = Array.from({ length: 5000 }, (_, at) => ({
      comm: `worker${at}`,
      argv: [`/usr/lib/app/worker${at}`, '--config', `/etc/app/${at}.conf`, '--verbose'],
      exe: `/usr/lib/app/worker${at}`,
    }));
    const started = performance.now();
    for (const p of processes) expect(recognise(p).kind === 'other').toBe(true);
    // Measured about 12 ms; the margin is for a busy machine and for expect itself.
    expect(performance.now() - started).toBeLessThan(1500);
  });
});
