import { ClaudeSession, claudeHome } from '../stage/claude.ts';
import type { Scene } from '../stage/scene.ts';
import type { Stage } from '../stage/stage.ts';
import type { Seen } from '../stage/table.ts';
import { NEEDS } from './claude-killed.ts';

const CHROMIUM = '/usr/bin/chromium';

interface BrowserServer {
  readonly config: Readonly<Record<string, unknown>>;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** A server with a browser of its own, and the call that opens a page in it. */
const SERVERS = {
  puppeteer: {
    config: {
      command: 'mcp-server-puppeteer',
      env: {
        PUPPETEER_EXECUTABLE_PATH: CHROMIUM,
        PUPPETEER_LAUNCH_OPTIONS: JSON.stringify({ headless: true, args: ['--no-sandbox'] }),
        ALLOW_DANGEROUS: 'true',
      },
    },
    tool: 'mcp__puppeteer__puppeteer_navigate',
    input: { url: 'about:blank' },
  },
  playwright: {
    config: {
      command: 'playwright-mcp',
      args: ['--headless', '--no-sandbox', '--isolated', '--executable-path', CHROMIUM],
    },
    tool: 'mcp__playwright__browser_navigate',
    input: { url: 'about:blank' },
  },
  'chrome-devtools': {
    config: {
      command: 'chrome-devtools-mcp',
      args: ['--headless', '--isolated', '--executablePath', CHROMIUM, '--chromeArg=--no-sandbox'],
    },
    tool: 'mcp__chrome-devtools__new_page',
    input: { url: 'about:blank' },
  },
} as const satisfies Record<string, BrowserServer>;

type BrowserName = keyof typeof SERVERS;

const browsing = async (
  stage: Stage,
  name: BrowserName,
): Promise<{ claude: ClaudeSession; handlers: readonly Seen[] }> => {
  const { config, tool, input } = SERVERS[name];
  claudeHome(stage, { [name]: config });
  const claude = await ClaudeSession.open(stage, 'one');
  await claude.play('browse', { tool, input });
  await stage.some('a page of the browser', seen => seen.command.includes('--type=renderer'));
  await stage.settled();
  const handlers = await stage.strays(/chrome_crashpad/);
  for (const seen of handlers)
    stage.is(seen, { what: 'the crash handler of a live browser', verdict: 'live' });
  return { claude, handlers };
};

const live = (name: BrowserName): Scene => ({
  name: `${name}-live`,
  about: `the ${name} server of a live session with its browser, after /clear`,
  needs: [...NEEDS, 'chromium'],
  play: async stage => {
    const { claude } = await browsing(stage, name);
    const before = claude.id;
    claude.say('/clear');
    await claude.until('another session id', () => claude.id !== before);
    await claude.atPrompt();
  },
});

const killed = (name: BrowserName): Scene => ({
  name: `${name}-killed`,
  about: `the ${name} server and its browser when the session is killed`,
  needs: [...NEEDS, 'chromium'],
  play: async stage => {
    const { claude, handlers } = await browsing(stage, name);
    const left = [...(await claude.killed()), ...stage.left(handlers)];
    for (const seen of left) stage.is(seen, { what: 'a browser left behind', verdict: 'leak' });
    stage.notes.push(
      left.length === 0 ? 'server and browser end by themselves' : `${left.length} processes stay`,
    );
  },
});

export const BROWSERS = (Object.keys(SERVERS) as BrowserName[]).flatMap(name => [live(name), killed(name)]);
