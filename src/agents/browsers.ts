import { type Family, type Form, list } from './family-type.ts';

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

const CRASH_HANDLERS = list('chrome_crashpad_handler crashpad_handler');

const PIPE_FLAGS = list('--remote-debugging-pipe --juggler-pipe -juggler-pipe --inspector-pipe');

const DRIVER_FLAGS = [
  ...PIPE_FLAGS,
  ...list(`
    --remote-debugging-port --headless -headless --enable-automation --marionette -marionette --juggler`),
];

// Where drivers keep the browsers they download.
const DRIVER_CACHES = ['/ms-playwright/', '/.cache/puppeteer/'];

/** The family of browsers that an agent's MCP server started: their profile is its trace. */
export const SERVER_BROWSER = 'server-browser';

// Profiles that only an agent's server makes.
const SERVER_PROFILES = list('mcp-chrome mcp-chromium mcp-firefox mcp-webkit mcp-msedge chrome-devtools-mcp');

// Profiles that only a driver makes.
const DRIVER_PROFILES = [...list('ms-playwright playwright_ puppeteer_dev'), ...SERVER_PROFILES];

/** Where a browser that is driven by a pipe reads its commands. */
export const DRIVING_DESCRIPTOR = 3;

/** A port is open to anybody on the machine, a pipe only to what started the browser. */
const FORMS: readonly Form[] = [
  { when: { holding: SERVER_PROFILES, flag: PIPE_FLAGS }, family: SERVER_BROWSER, role: 'piped-browser' },
  { when: { holding: SERVER_PROFILES }, family: SERVER_BROWSER },
  { when: { flag: ['--remote-debugging-port'] }, role: 'debuggable-browser' },
  { when: { flag: PIPE_FLAGS }, role: 'piped-browser' },
];

/** Browsers that an agent drives are tools of its session; a person's browser is not. */
export const BROWSERS: readonly Family[] = [
  { id: 'crash-handler', kind: 'other', programs: CRASH_HANDLERS, role: 'crash-handler' },
  {
    id: 'driven-browser',
    kind: 'browser',
    programs: [
      ...list('headless_shell chrome-headless-shell chromedriver geckodriver'),
      'Google Chrome for Testing',
    ],
    forms: FORMS,
  },
  {
    id: 'driven-browser',
    kind: 'browser',
    paths: [{ under: 'ms-playwright' }, { under: '.cache/puppeteer' }],
    forms: FORMS,
  },
  {
    id: 'driven-browser',
    kind: 'browser',
    programs: [...BROWSER_PROGRAMS, 'MiniBrowser'],
    home: DRIVER_CACHES,
    only: [{ flag: DRIVER_FLAGS }, { holding: DRIVER_PROFILES }],
    forms: FORMS,
  },
  {
    id: 'desktop-browser',
    kind: 'other',
    anchor: 'desktop-app',
    programs: [...BROWSER_PROGRAMS, ...list('Safari Arc vivaldi-bin opera')],
  },
];
