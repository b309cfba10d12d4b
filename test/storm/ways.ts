import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { reaptop } from '../support/cli.ts';
import { KEY, Pty } from '../support/pty.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { HABITS, type Habit, WILLING } from './leaks.ts';
import type { Told } from './lies.ts';

/** A way to clean, as a person or a script uses it. */
export interface Way {
  readonly habits: readonly Habit[];
  /** Cleans once and tells what the program says it did. */
  clean(sandbox: Sandbox): Promise<Told>;
}

interface Document {
  readonly plan: { readonly steps: Told['steps'] };
  readonly outcomes: Told['outcomes'];
}

const toldBy = ({ plan, outcomes }: Document): Told => ({ steps: plan.steps, outcomes, at: Date.now() });

const GRACE = ['--grace', '0.4'];

const clean: Way['clean'] = async sandbox => {
  const args = ['clean', '--force', '--json', '--age-threshold', '0', ...GRACE];
  const { stdout, stderr, code } = await reaptop(sandbox, args);
  try {
    return toldBy(JSON.parse(stdout) as Document);
  } catch (error) {
    throw new Error(`clean answered ${code}: ${stderr}${stdout.slice(0, 200)}`, { cause: error });
  }
};

const auditOf = (sandbox: Sandbox): string => {
  const path = join(sandbox.home, '.local/state/reaptop/audit.jsonl');
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
};

/** The TUI's c and y in a real terminal; what it did is in the audit log. */
const tui: Way['clean'] = async sandbox => {
  const before = auditOf(sandbox).length;
  const pty = new Pty(sandbox, { args: ['--interval', '0.3'] });
  try {
    await pty.shows('LEAK');
    await pty.until('a plan with something in it', async () => {
      pty.press('c');
      await pty.shows('Clean what is proven leaked');
      if (/^ {2}TERM +\d/m.test(pty.text())) return true;
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
  const lines = auditOf(sandbox).slice(before).trim().split('\n').filter(Boolean);
  const acts = lines.map(line => JSON.parse(line) as Partial<Document>);
  const steps = acts.findLast(act => act.plan?.steps !== undefined)?.plan?.steps ?? [];
  const outcomes = acts.findLast(act => act.outcomes !== undefined)?.outcomes;
  if (outcomes === undefined) throw new Error('the TUI cleaned and the audit log has no outcome of it');
  return toldBy({ plan: { steps }, outcomes });
};

export const WAYS = {
  clean: { habits: HABITS, clean },
  tui: { habits: WILLING, clean: tui },
} as const satisfies Record<string, Way>;
