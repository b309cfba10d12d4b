import type { Seen } from './stage/table.ts';

export type Verdict = 'live' | 'leak' | 'suspect' | 'protected' | 'unknown';

/** What the scene knows about a process because it made it. */
export interface Truth {
  /** In words, for the report: "shell of the killed session". */
  readonly what: string;
  readonly verdict: Verdict | readonly Verdict[];
  /** What only a TUI that was open before can prove. `maybe`: if it sampled in time. */
  readonly watched?: 'leak' | 'maybe';
  /** What is below it, where that is judged in another way. */
  readonly below?: readonly Verdict[];
  /** The kind of this very process; what is below it is known by its program. */
  readonly kind?: string;
  /** The pid of its live owner; `dead`: an owner that has ended; null: none at all. */
  readonly owner?: number | 'dead' | null;
}

/** The nearest truth on the way up. What a scene did not claim, it does not know. */
export const truthOf = (
  seen: Seen,
  table: ReadonlyMap<number, Seen>,
  claims: ReadonlyMap<string, Truth>,
): Truth | null => {
  for (let at: Seen | undefined = seen; at !== undefined && at.pid > 1; at = table.get(at.ppid)) {
    const claim = claims.get(identityOf(at));
    if (claim !== undefined) return at === seen ? claim : ofWhatIsBelow(claim);
  }
  return null;
};

const ofWhatIsBelow = ({ kind: _, below, ...truth }: Truth): Truth => ({
  ...truth,
  verdict: below ?? truth.verdict,
});

export const identityOf = ({ pid, start }: { readonly pid: number; readonly start: string }): string =>
  `${pid}:${start}`;

/**
 * What a program is, told in the plainest way that works for the programs these scenes start.
 * Deliberately separate from the product's own recognisers: they are what is tested.
 */
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^(bwrap|\/proc\/self\/fd\/\d+) /, 'wrapper'],
  [/^(npm exec|npx|node \S*\/(npm|npx)(-cli\.js)? )/, 'wrapper'],
  [/^-?(\S*\/)?(ba|da|z)?sh -l?c /, 'wrapper'],
  [/^tmux\b/, 'tmux'],
  [/^\S*(node|MainThread) .*(mcp|server-(memory|everything|filesystem|sequential|puppeteer))/, 'mcp'],
  [/^\S*(mcp-server-|playwright-mcp|chrome-devtools-mcp|figma-developer-mcp)/, 'mcp'],
  [/chrome_crashpad_handler/, 'other'],
  [/chrom(e|ium)/, 'browser'],
  [/^(\S*\/)?claude(\.exe)?( |$)/, 'agent'],
  [/(^|\/)(codex|opencode|gemini|copilot)( |$)/, 'agent'],
  [/^-?(\S*\/)?(ba|da|z)?sh( |$)/, 'shell'],
];

export const kindOf = (seen: Seen): string =>
  KINDS.find(([pattern]) => pattern.test(seen.command))?.[1] ?? 'other';
