import type { Finding, FindingAction } from '../model/finding.ts';
import { CLEAN_AGE_MINUTES } from '../model/plan.ts';

/** The clean that does not answer "Nothing to do" about something this old. */
export const cleanCommand = (oldestSeconds: number): string =>
  oldestSeconds >= CLEAN_AGE_MINUTES * 60 ? 'reaptop clean' : 'reaptop clean --age-threshold 0';

/** What to type for what a finding asks for; null: that is for somebody who has looked, in the TUI. */
const COMMANDS = {
  clean: (_finding, oldestSeconds) => cleanCommand(oldestSeconds),
  zombies: () => 'reaptop clean --zombie-parents',
  end: () => null,
  // The remedy itself names `claude stop ID`.
  'stop-session': () => null,
  continue: ({ processes }) => `kill -CONT ${processes.map(({ pid }) => pid).join(' ')}`,
  sweep: () => 'reaptop sweep',
  // A lock of an agent that lives is that agent's business: sweep leaves it.
  'remove-file': ({ processes }) => (processes.length === 0 ? 'reaptop sweep' : null),
} satisfies Record<FindingAction, (finding: Finding, oldestSeconds: number) => string | null>;

/** `end them: 901 MiB reclaimable (reaptop clean)`: the remedy with the command, for who reads it in a shell. */
export const remedyInText = (finding: Finding, oldestSeconds: number): string => {
  const command = finding.action === null ? null : COMMANDS[finding.action](finding, oldestSeconds);
  return command === null ? finding.remedy : `${finding.remedy} (${command})`;
};

/** `f: end them: 901 MiB reclaimable`: the same with its key, for who has the screen and needs no command. */
export const remedyInKeys = ({ remedy, action }: Finding): string =>
  action === null ? remedy : `f: ${remedy}`;
