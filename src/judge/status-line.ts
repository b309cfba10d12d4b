import type { AgentSession, Totals } from '../model/snapshot.ts';
import { visible } from '../model/text.ts';
import { formatAge, formatBytes, plural } from '../model/units.ts';

export interface StatusFacts {
  readonly totals: Pick<Totals, 'agents' | 'rss' | 'swap' | 'leaks' | 'reclaimable'>;
  /** Heartbeats that are late. */
  readonly stale: number;
  readonly agents: readonly { readonly name: string; readonly session: AgentSession | null }[];
  /** The session that asks: that it waits is left out. */
  readonly own: string | null;
  /** Whose bar it is for. */
  readonly style: LineStyle;
}

export type LineStyle = 'tmux' | 'claude';

/** tmux reads what a command prints as a format: `#[…]` would be colours, `#{…}` a variable. */
const forBar = (name: string, style: LineStyle): string =>
  style === 'tmux' ? name.replaceAll('#', '##') : name;

const MOST_WAITING = 2;
const MOST_NAME = 24;

/** One line for a status bar: agents and their memory, leaks, late heartbeats, and who waits for the user. */
export const statusLine = ({ totals, stale, agents, own, style }: StatusFacts): string => {
  const waiting = agents
    .filter(({ session }) => session?.doing === 'waiting' && (own === null || session.id !== own))
    .sort((a, b) => (b.session?.seconds ?? 0) - (a.session?.seconds ?? 0));
  const named = waiting.slice(0, MOST_WAITING).map(({ name, session }) => {
    const who = forBar(visible(session?.project ?? name).slice(0, MOST_NAME), style);
    return `${who} waits${session?.seconds == null ? '' : ` ${formatAge(session.seconds)}`}`;
  });
  const others = waiting.length - named.length;
  return [
    `${plural(totals.agents, 'agent')} ${formatBytes(totals.rss + totals.swap)}`,
    ...(totals.leaks === 0 ? [] : [`${plural(totals.leaks, 'leak')} ${formatBytes(totals.reclaimable)}`]),
    ...(stale === 0 ? [] : [`${stale} stale`]),
    ...named,
    ...(others === 0 ? [] : [`${others} more wait`]),
  ].join(' | ');
};
