import { auditLines } from '../../support/audit.ts';
import { reaptop } from '../../support/cli.ts';
import { KEY, Pty } from '../../support/pty.ts';
import type { Sandbox } from '../../support/sandbox.ts';
import { HABITS, type Habit, Leaks, WILLING } from './leaks.ts';
import type { Told } from './lies.ts';

/** A way to clean, as a person or a script uses it. */
export interface Way {
  /** What there is to clean. */
  leave(sandbox: Sandbox, turn: number): Promise<Leaks>;
  /** Cleans once and tells what the program says it did. */
  clean(sandbox: Sandbox): Promise<Told>;
  /** How what is left after that is cleaned. */
  readonly again: 'clean' | 'sweep';
}

interface Document {
  readonly plan: { readonly steps: Told['steps'] };
  readonly outcomes: Told['outcomes'];
}

const toldBy = ({ plan, outcomes }: Document): Told => ({ steps: plan.steps, outcomes, at: Date.now() });

const GRACE = ['--grace', '0.4'];

const headless =
  (...args: string[]): Way['clean'] =>
  async sandbox => {
    const { stdout, stderr, code } = await reaptop(sandbox, [...args, '--force', '--json', ...GRACE]);
    try {
      return toldBy(JSON.parse(stdout) as Document);
    } catch (error) {
      throw new Error(`${args[0]} answered ${code}: ${stderr}${stdout.slice(0, 200)}`, { cause: error });
    }
  };

/** The TUI's c and y in a real terminal; what it did is in the audit log. */
const tui: Way['clean'] = async sandbox => {
  const before = auditLines(sandbox).length;
  const pty = new Pty(sandbox, { args: ['--interval', '0.3'] });
  try {
    await pty.shows('LEAK');
    await pty.until('a plan with something in it', async () => {
      pty.press('c');
      await pty.shows('Clean what is proven leaked');
      if (/^ {2}TERM +LEAK +\d/m.test(pty.text())) return true;
      pty.press(KEY.escape);
      await pty.hides('Clean what is proven leaked');
      return false;
    });
    await pty.confirm();
    await pty.shows('Done');
    pty.press(KEY.enter);
    pty.press('q');
    await pty.exit();
  } finally {
    pty.process.kill('SIGKILL');
  }
  const acts = auditLines(sandbox).slice(before) as unknown as readonly Partial<Document>[];
  const steps = acts.findLast(act => act.plan !== undefined)?.plan?.steps ?? [];
  const outcomes = acts.findLast(act => act.outcomes !== undefined)?.outcomes;
  if (outcomes === undefined) throw new Error('the TUI cleaned and the audit log has no outcome of it');
  return toldBy({ plan: { steps }, outcomes });
};

/** Leaks of one agent, besides what they start themselves. */
const LEAKS_AT_ONCE = 5;

const leaving =
  (habits: readonly Habit[]): Way['leave'] =>
  (sandbox, turn) => {
    const pick = (_: unknown, n: number): Habit => habits[(turn * LEAKS_AT_ONCE + n) % habits.length]!;
    return Leaks.leave(sandbox, Array.from({ length: LEAKS_AT_ONCE }, pick), turn);
  };

export const WAYS = {
  clean: { leave: leaving(HABITS), clean: headless('clean', '--age-threshold', '0'), again: 'clean' },
  // The TUI waits for a plan, and of a few that are left there may be none.
  tui: { leave: leaving(WILLING), clean: tui, again: 'clean' },
  sweep: { leave: (sandbox, turn) => Leaks.finish(sandbox, turn), clean: headless('sweep'), again: 'sweep' },
} as const satisfies Record<string, Way>;
