import type { Family } from './families.ts';

const CHROMIUM = [
  'chrome',
  'google-chrome',
  'google-chrome-stable',
  'chromium',
  'chromium-browser',
  'msedge',
  'microsoft-edge',
  'brave',
  'Chromium',
  'Google Chrome',
  'Google Chrome Helper',
  'Google Chrome Helper (Renderer)',
  'Google Chrome Helper (GPU)',
  'Microsoft Edge',
  'Brave Browser',
] as const;

const AUTOMATION_FLAGS = [
  '--remote-debugging-port',
  '--remote-debugging-pipe',
  '--headless',
  '--enable-automation',
  '-headless',
  '--marionette',
  '--juggler',
  '--juggler-pipe',
  '-juggler-pipe',
  '--inspector-pipe',
] as const;

// Profiles that only a driver makes.
const AUTOMATION_PROFILES = [
  'ms-playwright',
  'playwright_',
  'puppeteer_dev',
  'mcp-chrome',
  'chrome-devtools-mcp',
  '/.cache/mcp',
] as const;

/** Browsers that an agent drives are tools of the session; a person's browser is not. */
export const BROWSERS: readonly Family[] = [
  {
    id: 'driven-browser',
    kind: 'browser',
    name: 'browser',
    programs: [
      'headless_shell',
      'chrome-headless-shell',
      'Google Chrome for Testing',
      'chromedriver',
      'geckodriver',
    ],
  },
  {
    id: 'driven-browser',
    kind: 'browser',
    paths: [{ under: 'ms-playwright' }, { under: '.cache/puppeteer' }, { under: 'ms-playwright-go' }],
  },
  {
    id: 'driven-browser',
    kind: 'browser',
    programs: [...CHROMIUM, 'firefox', 'firefox-bin', 'firefox-esr', 'MiniBrowser', 'WebKitWebProcess'],
    only: [{ flag: AUTOMATION_FLAGS }, { holding: AUTOMATION_PROFILES }],
  },
  {
    id: 'desktop-browser',
    kind: 'other',
    anchor: 'desktop-app',
    programs: [...CHROMIUM, 'firefox', 'firefox-bin', 'firefox-esr', 'Safari', 'Arc', 'vivaldi-bin', 'opera'],
  },
];
