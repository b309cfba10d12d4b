import { plural, spellBytes } from '../model/format.ts';
import { OUTCOMES, type Outcome } from '../model/plan.ts';

/** `7 ended, 1 killed, 3.1 GiB back`: from what happened, never from what was intended. */
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
  return `${parts.join(', ')}${freed > 0 ? `, ${about}${spellBytes(freed)} back` : ''}`;
};
