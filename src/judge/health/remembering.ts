import { formatAge, formatMoment, plural, spellBytes } from '../../model/format.ts';
import { fail, type HealthCheck, ok, warn } from './check.ts';

/** Whether somebody keeps the machine healthy while nobody looks. */
export const guard: HealthCheck = ({ guard: { running, held, lookAge, fresh } }) => {
  if (held !== null)
    return fail(`guard waits for a person: ${held}`, 'look, then let it go on: reaptop guard allow');
  if (running === null)
    return ok('guard is not running; reaptop guard install starts it, now and at every login');
  const since = `guard has been running since ${formatMoment(running.since)} (pid ${running.pid})`;
  if (lookAge !== null && !fresh)
    return fail(
      `${since}, but its last look was ${formatAge(lookAge)} ago`,
      'it hangs or is stopped: end it, and start it again',
    );
  return ok(since);
};

/** What it is kept within (README, The morning after), and some room for the hour being written. */
const MOST_BYTES = 96 * 1024 ** 2;
/** Guard looks every ten seconds; an interval of an hour is the longest there is. */
const SILENT_SECONDS = 3700;

export const recorder: HealthCheck = ({ guard: { running }, recorder: { segments, bytes, age } }) => {
  if (segments === 0)
    return running === null
      ? ok('nothing is recorded: guard would')
      : warn('guard runs, and nothing is recorded', 'look at its warnings: reaptop guard status');
  const kept = `${plural(segments, 'hour')} recorded, ${spellBytes(bytes)}`;
  if (bytes > MOST_BYTES)
    return warn(`${kept}: more than is kept`, 'look at the warnings of reaptop guard status');
  if (running !== null && age !== null && age > SILENT_SECONDS)
    return warn(`${kept}, the last ${formatAge(age)} ago, though guard runs`, 'look at reaptop guard status');
  return ok(kept);
};
