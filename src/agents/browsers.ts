import { type Family, list } from './families.ts';

const BROWSER_PROGRAMS = [
  ...list(`
    chrome google-chrome google-chrome-stable chromium chromium-browser Chromium msedge microsoft-edge brave
    firefox firefox-bin firefox-esr`),
  'Google Chrome',
  'Google Chrome Helper',
  'Google Chrome Helper (Renderer)',
  'Google Chrome Helper (GPU)',
  'Microsoft Edge',
  'Brave Browser',
];

const DRIVER_FLAGS = list(`
  --remote-debugging-port --remote-debugging-pipe --headless -headless --enable-automation --marionette -marionette
  --juggler --juggler-pipe -juggler-pipe --inspector-pipe`);

// Where drivers keep the browsers they download.
const DRIVER_CACHES = ['/ms-playwright/', '/.cache/puppeteer/'];

// Profiles that only a driver makes.
const DRIVER_PROFILES = list('ms-playwright playwright_ puppeteer_dev mcp-chrome chrome-devtools-mcp');

/** Browsers that an agent drives are tools of its session; a person's browser is not. */
export const BROWSERS: readonly Family[] = [
  {
    id: 'driven-browser',
    kind: 'browser',
    programs: [
      ...list('headless_shell chrome-headless-shell chromedriver geckodriver'),
      'Google Chrome for Testing',
    ],
  },
  {
    id: 'driven-browser',
    kind: 'browser',
    paths: [{ under: 'ms-playwright' }, { under: '.cache/puppeteer' }],
  },
  {
    id: 'driven-browser',
    kind: 'browser',
    programs: [...BROWSER_PROGRAMS, 'MiniBrowser'],
    home: DRIVER_CACHES,
    only: [{ flag: DRIVER_FLAGS }, { holding: DRIVER_PROFILES }],
  },
  {
    id: 'desktop-browser',
    kind: 'other',
    anchor: 'desktop-app',
    programs: [...BROWSER_PROGRAMS, ...list('Safari Arc vivaldi-bin opera')],
  },
];
