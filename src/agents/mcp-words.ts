import { list } from './families.ts';

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

/** How they say that only whoever started it talks to it. */
export const STDIO_TRANSPORT = {
  valueFlags: HTTP_TRANSPORT.valueFlags,
  values: ['stdio'],
  flags: ['--stdio', '-stdio'],
  commands: ['stdio'],
};

/** How a program says that it is meant to outlive whoever starts it. */
export const DAEMON_WORDS = {
  command: 'daemon',
  actions: list('start run serve'),
  flags: list('--daemon --daemonize -daemon -daemonize'),
};

/** What follows `PROGRAM mcp` when that starts a server. */
export const SERVER_COMMANDS = list('serve start stdio');

/**
 * Programs that manage or fetch something called mcp, besides the readers: `brew mcp`, `apt mcp` serve nobody.
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
