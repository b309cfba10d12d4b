import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The versions that were seen: a newer one is a deliberate change of this table. */
export const PACKAGES = {
  '@anthropic-ai/claude-agent-sdk': '0.3.327',
  '@anthropic-ai/claude-code': '2.1.327',
  '@github/copilot': '1.0.102',
  '@google/gemini-cli': '0.61.0',
  '@modelcontextprotocol/server-everything': '2026.8.31',
  '@modelcontextprotocol/server-filesystem': '2026.8.31',
  '@modelcontextprotocol/server-memory': '2026.8.31',
  '@modelcontextprotocol/server-puppeteer': '2025.5.12',
  '@modelcontextprotocol/server-sequential-thinking': '2026.8.31',
  '@openai/codex': '0.169.0',
  '@playwright/mcp': '0.0.83',
  'chrome-devtools-mcp': '1.11.0',
  'figma-developer-mcp': '0.13.2',
  'opencode-ai': '1.18.33',
  typescript: '5.9.3',
  'typescript-language-server': '5.3.0',
  vite: '8.3.8',
} as const;

/** Programs of the distribution, with the package that has them. */
export const PROGRAMS = {
  bwrap: 'bubblewrap',
  socat: 'socat',
  chromium: 'chromium',
  'redis-server': 'redis-server',
  postgres: 'postgresql',
  tmux: 'tmux',
} as const;

export type Need = keyof typeof PACKAGES | keyof typeof PROGRAMS;

/** Beside other caches of the user, never in the clone. */
export const cacheDirectory = (): string =>
  process.env.REAPTOP_REAL_CACHE ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'reaptop-real');

const installed = (cache: string, name: string): string | null => {
  try {
    const text = readFileSync(join(cache, 'node_modules', name, 'package.json'), 'utf8');
    return (JSON.parse(text) as { version: string }).version;
  } catch {
    return null;
  }
};

const DEBIAN_DIRECTORIES = ['/usr/bin', '/usr/local/bin', '/usr/lib/postgresql/15/bin'];
const hasProgram = (name: string): boolean =>
  DEBIAN_DIRECTORIES.some(directory => existsSync(join(directory, name)));

/** No browser of their own: they get the distribution's. */
const NO_DOWNLOADS = { PUPPETEER_SKIP_DOWNLOAD: '1', PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1' };

/** Installs what is not there yet, and says what could not be had. */
export const install = (say: (line: string) => void): readonly Need[] => {
  const cache = cacheDirectory();
  mkdirSync(cache, { recursive: true });
  const wrong = Object.entries(PACKAGES).filter(([name, version]) => installed(cache, name) !== version);
  if (wrong.length > 0) {
    say(`Installing ${wrong.map(([name, version]) => `${name}@${version}`).join(' ')} into ${cache}`);
    writeFileSync(join(cache, 'package.json'), JSON.stringify({ private: true, dependencies: PACKAGES }));
    spawnSync('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel', 'error'], {
      cwd: cache,
      env: { ...process.env, ...NO_DOWNLOADS },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  const programs = Object.entries(PROGRAMS).filter(([name]) => !hasProgram(name));
  if (programs.length > 0) {
    say(`Installing ${programs.map(([, debian]) => debian).join(' ')}`);
    spawnSync(
      'apt-get',
      ['install', '-y', '-qq', '--no-install-recommends', ...programs.map(([, debian]) => debian)],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
  }
  return [
    ...Object.entries(PACKAGES).filter(([name, version]) => installed(cache, name) !== version),
    ...Object.entries(PROGRAMS).filter(([name]) => !hasProgram(name)),
  ].map(([name]) => name as Need);
};
