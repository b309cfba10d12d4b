import type { Chore, ChoreOutcome, Plan } from '../../model/plan.ts';
import { LEFT_ALONE } from '../../words/plan.ts';
import { CHORE_TONES } from '../../words/tones.ts';
import { wrap } from '../../words/wrap.ts';
import type { Tone } from '../look/theme.ts';
import { type Line, run, toWidth } from '../view/line.ts';
import type { Screen } from '../view/screen.ts';

const ACTS = {
  archive: 'archive',
  delete: 'delete',
  remove: 'remove',
  expire: 'delete',
  'end-session': 'end tmux',
  'claude-stop': 'stop',
} satisfies Record<Chore['act'], string>;

const INDENT = 11;

/** `claude stop 1a2b3c4d` is what would be run; a path and a session's name stand for themselves. */
const targetText = ({ act, target }: Chore): string =>
  act === 'claude-stop' ? `claude stop ${target}` : target;

/** The end of a path says which file it is: it is never cut, but goes on below. */
const below = (text: string, tone: Tone, { layout }: Screen): readonly Line[] =>
  wrap(text, Math.max(12, layout.columns - INDENT)).map(part => [run(' '.repeat(INDENT)), run(part, tone)]);

const titled = (word: string, wordTone: Tone, target: string, screen: Screen): readonly Line[] => {
  const [first = [], ...rest] = below(target, 'plain', screen);
  return [[run('  '), run(toWidth(word, INDENT - 2), wordTone), ...first.slice(1)], ...rest];
};

/** What a plan does that is no signal; with outcomes, what became of it. */
export const choreLines = (
  plan: Plan,
  outcomes: readonly ChoreOutcome[] | null,
  screen: Screen,
): readonly Line[] =>
  (plan.chores ?? []).flatMap(chore => {
    const outcome = outcomes?.find(({ act, target }) => act === chore.act && target === chore.target);
    const [word, tone] = outcome
      ? ([outcome.outcome, CHORE_TONES[outcome.outcome]] as const)
      : ([outcomes ? '' : ACTS[chore.act], 'plain'] as const);
    const why = outcome ? outcome.why : chore.why;
    return [...titled(word, tone, targetText(chore), screen), ...below(why, 'faint', screen)];
  });

export const leftAloneLines = ({ leftAlone = [] }: Plan, screen: Screen): readonly Line[] =>
  leftAlone.length === 0
    ? []
    : [
        [],
        [run(`  ${LEFT_ALONE}`, 'warn')],
        ...leftAlone.flatMap(({ what, why }) => below(`${what}: ${why}`, 'plain', screen)),
      ];
