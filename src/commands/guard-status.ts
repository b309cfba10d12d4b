import { lockHolder } from '../act/record/run-lock.ts';
import { allow, readHeld } from '../guard/hold.ts';
import { visible } from '../model/text.ts';
import { formatAge, formatMoment, plural, spellBytes } from '../model/units.ts';
import type { System } from '../observe/system.ts';
import { EXIT_FAILURE, type Output } from '../output.ts';
import { isFresh, type Latest, readLatest } from '../remember/latest.ts';

export interface StatusDependencies {
  readonly system: System;
  readonly directory: string | null;
  readonly out: Output;
  readonly now: number;
}

/** Since when guard runs, what it did, what it would do now. 1 when none runs. */
export const status = async (
  { system, directory, out, now }: StatusDependencies,
  { json }: { readonly json: boolean },
): Promise<number> => {
  const holder = await lockHolder(system, 'guard', directory);
  const latest = readLatest(directory);
  const held = readHeld(directory);
  const own = holder !== null && latest !== null && latest.guard.writer.pid === holder.pid ? latest : null;
  if (json) {
    const running = holder === null ? null : { pid: holder.pid, start: holder.start, since: holder.since };
    out.write(`${JSON.stringify({ schema: 1, running, held, latest }, null, 2)}\n`);
  } else {
    const lines =
      holder === null
        ? [
            'guard is not running (reaptop guard install starts it, now and at every login)',
            ...lastWords(latest),
          ]
        : [
            `guard has been running since ${formatMoment(holder.since)} (pid ${holder.pid})`,
            ...(own === null ? ['its first look is not finished yet'] : reportOf(own, now)),
          ];
    const waits = held === null ? [] : [`HELD: ${held.why}. To go on: reaptop guard allow`];
    out.write([...lines, ...waits].map(line => `${visible(line)}\n`).join(''));
  }
  return holder === null ? EXIT_FAILURE : 0;
};

const lastWords = (latest: Latest | null): string[] =>
  latest === null ? [] : [`its last sample was at ${formatMoment(latest.takenAt)}`];

const reportOf = (latest: Latest, now: number): string[] => {
  const { guard, totals } = latest;
  const age = formatAge((now - latest.takenAt) / 1000);
  const bytes = guard.reclaimedBytes > 0 ? `, ${spellBytes(guard.reclaimedBytes)} freed` : '';
  return [
    `last sample ${age} ago${isFresh(latest, now) ? '' : ' (overdue)'}: ${plural(totals.agents, 'agent')}, ${totals.related} agent processes of ${totals.processes}`,
    `ended so far: ${plural(guard.ended, 'process', 'processes')}${bytes}; ${guard.endsLastHour} of ${guard.endsPerHour} trees this hour`,
    `to do now: ${nextOf(latest)}`,
    ...(guard.acts.length === 0 ? [] : ['last acts:']),
    ...guard.acts.slice(-5).map(({ at, text }) => `  ${formatMoment(at)}  ${text}`),
    ...guard.warnings.map(warning => `warning: ${warning}`),
  ];
};

const nextOf = ({ totals, guard }: Latest): string => {
  if (totals.leaks === 0) return 'nothing is leaked';
  const leaks = `${plural(totals.leaks, 'leaked process', 'leaked processes')}, ${spellBytes(totals.reclaimable)}`;
  if (guard.held !== null) return `${leaks}; nothing is ended while guard is held`;
  if (guard.paused !== null) return `${leaks}; not yet, because ${guard.paused}`;
  return guard.waiting > 0
    ? `${leaks}; ${plural(guard.waiting, 'process waits', 'processes wait')}: this hour's budget is spent`
    : `${leaks}; ended when they are old enough and were seen twice`;
};

/** `guard allow`: a person has looked, and guard may go on. */
export const allowGuard = ({ directory, out }: Pick<StatusDependencies, 'directory' | 'out'>): number => {
  const held = directory !== null && allow(directory);
  out.write(held ? 'allowed: guard goes on at its next look\n' : 'nothing was held\n');
  return 0;
};
