import { plural, spellBytes } from '../model/format.ts';
import { CLEAN_AGE_MINUTES } from '../model/plan.ts';
import type { Totals } from '../model/snapshot.ts';
import { cleanCommand } from './remedy.ts';

interface Amount {
  readonly count: number;
  readonly bytes: number;
}

const amount = ({ count, bytes }: Amount): string =>
  `${plural(count, 'process', 'processes')}, ${spellBytes(bytes)}`;

/** What can be cleaned, and the command that does it: never one that would answer "Nothing to do". */
export const leakedHere = ({
  now,
  later,
}: {
  readonly now: Amount;
  readonly later: Amount;
}): readonly string[] => {
  const lines: string[] = [];
  if (now.count > 0)
    lines.push(
      `Ready to clean: ${amount(now)}. ${cleanCommand(CLEAN_AGE_MINUTES * 60)} shows the plan, --force runs it.`,
    );
  if (later.count > 0)
    lines.push(
      `${now.count > 0 ? 'Also leaked, but' : 'Leaked, but'} younger than ${CLEAN_AGE_MINUTES} min: ${amount(later)}. ${cleanCommand(0)} takes ${later.count === 1 ? 'it' : 'them'}${now.count > 0 ? ' too' : ''}.`,
    );
  return lines.length > 0 ? lines : ['No leak can be cleaned as it is: reaptop clean says why.'];
};

/** Of another machine, or another time: nothing is signalled from here. */
export const leakedElsewhere = ({ leaks, reclaimable }: Pick<Totals, 'leaks' | 'reclaimable'>): string =>
  `Leaked in this recording: ${amount({ count: leaks, bytes: reclaimable })}. Nothing can be ended from here.`;
