import { plural, spellBytes } from '../model/format.ts';
import { type ChoreOutcome, OUTCOMES, type Outcome } from '../model/plan.ts';

/** `7 ended, 1 killed, 3.1 GiB freed`: from what happened, never from what was intended. */
export const summarise = (outcomes: readonly Outcome[]): string => {
  if (outcomes.length === 0) return 'nothing to do';
  const parts: string[] = [];
  for (const kind of OUTCOMES) {
    const count = outcomes.filter(outcome => outcome.outcome === kind).length;
    if (count === 0) continue;
    parts.push(kind === 'zombie' ? plural(count, 'zombie') : `${count} ${kind}`);
  }
  const freed = outcomes.reduce((sum, outcome) => sum + outcome.freed, 0);
  const about = outcomes.some(outcome => outcome.about === true) ? 'about ' : '';
  return `${parts.join(', ')}${freed > 0 ? `, ${about}${spellBytes(freed)} freed` : ''}`;
};

/** The same with what was done besides: `1 ended, 96 MiB freed, 2 done, 1 skipped: it changed after the plan was made`. */
export const summariseAll = (outcomes: readonly Outcome[], chores: readonly ChoreOutcome[]): string => {
  const parts = outcomes.length > 0 ? [summarise(outcomes)] : [];
  const done = chores.filter(({ outcome }) => outcome === 'done');
  const ended = done.filter(({ act }) => act === 'end-session' || act === 'claude-stop').length;
  const archived = done.filter(({ act }) => act === 'archive').length;
  const removed = done.length - ended - archived;
  if (ended > 0) parts.push(`${plural(ended, 'session')} ended`);
  if (archived > 0) parts.push(`${plural(archived, 'file')} archived`);
  if (removed > 0) parts.push(`${plural(removed, 'file')} removed`);
  const left = chores.filter(({ outcome }) => outcome !== 'done');
  if (left.length > 0) parts.push(`${left.length} left: ${left[0]!.why}`);
  return parts.length === 0 ? 'nothing to do' : parts.join(', ');
};
