import type { JudgedProcess } from '../../model/snapshot.ts';

/** What a filter word is looked for in: name, kind, family, verdict, state, path, command, tmux place. */
const haystack = (p: JudgedProcess): string =>
  [
    p.name,
    p.kind,
    p.agent ?? '',
    p.verdict,
    p.protection === null ? '' : 'protected',
    p.zombies > 0 ? 'zombie' : '',
    p.tmux ? `${p.tmux.session} ${p.tmux.pane}` : '',
    p.facts.details?.cwd ?? '',
    p.command,
  ]
    .join('\n')
    .toLowerCase();

/** A test for the words of the filter: every word must match; a number matches the pid from its first digit. */
export const matcher = (filter: string): ((p: JudgedProcess) => boolean) | null => {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return null;
  return p => {
    const text = haystack(p);
    return words.every(
      word => text.includes(word) || (/^\d+$/.test(word) && String(p.facts.pid).startsWith(word)),
    );
  };
};
