import { leftSomething } from '../act/execute.ts';
import { scannedFiles } from '../engine/agent-files.ts';
import { type Executed, engineOf } from '../engine/engine.ts';
import type { Prepared } from '../engine/prepare.ts';
import { type AskedBySession, type Mine, onlyMine } from '../judge/mine.ts';
import type { Severity } from '../model/finding.ts';
import type { Kind } from '../model/kind.ts';
import type { ActRequest, AskedBy, Plan } from '../model/plan.ts';
import { planHeading, summarise } from '../model/plan-text.ts';
import { identityOf, type Snapshot } from '../model/snapshot.ts';
import { snapshotJson } from '../model/snapshot-json.ts';
import { showableJson } from '../model/text.ts';
import { EXIT_FAILURE, EXIT_INTERRUPTED, EXIT_SURVIVED, painter } from '../output.ts';
import { calledFrom, failOnCode } from './once.ts';
import { executeShown, inPlanOrder, outcomeLine, outcomesJson, planJson, planText } from './plan-text.ts';

export interface CleanDependencies {
  readonly prepared: Prepared;
  readonly out: { write(text: string): void; readonly isTTY?: boolean };
  readonly err: { write(text: string): void; readonly isTTY?: boolean };
  /** Aborted by Ctrl-C: what was begun is finished step by step, nothing new is signalled. */
  readonly abort: AbortSignal;
}

const BY: AskedBy = 'clean';

/** Headless clean-up: shows the plan, and with `--force` runs that very plan and reports what it verified. */
export const clean = async (dependencies: CleanDependencies, options: CleanOptions): Promise<number> => {
  const { prepared, out, err, abort } = dependencies;
  // A stream that grows may be the only sign that an agent is at work.
  const engine = engineOf(prepared, scannedFiles(prepared.config));
  const seen = await engine.sampleTwice();
  const mine = options.mine === undefined ? null : calledFrom(seen, options.mine);
  const snapshot = mine === null ? seen : onlyMine(seen, mine);
  const planned = await engine.plan(requestOf(options, seen, mine), { by: BY, snapshot: seen });
  const plan = mine === null ? planned : withUntold(planned, mine);
  const acts = options.force && !options.dryRun;
  if (!options.json) out.write(describePlan(plan, snapshot, acts, options));
  if (!acts || plan.steps.length === 0) {
    if (acts) await engine.completeEarlierActs(BY);
    if (options.json) writeJson(dependencies, snapshot, plan, null);
    return failOnCode(snapshot, options.failOn);
  }
  const result = await executeShown(engine, plan, err, {
    by: BY,
    why: askedFor(options),
    signal: abort,
    graceSeconds: options.graceSeconds,
  });
  if (result.status === 'held') {
    err.write(`reaptop: nothing was signalled: ${result.why}\n`);
    return EXIT_FAILURE;
  }
  for (const warning of result.warnings) err.write(`reaptop: ${warning}\n`);
  return report(plan, snapshot, result, options, dependencies);
};

/** What the user asked for, for the record, and to type when only the plan was shown. */
const askedFor = (options: CleanOptions): string =>
  [
    'clean',
    `--age-threshold ${options.ageThresholdMinutes}`,
    ...(options.suspects ? ['--suspects'] : []),
    ...options.kinds.map(kind => `--kind ${kind}`),
    ...options.pids.map(({ pid }) => `--pid ${pid}`),
    ...(options.zombieParents ? ['--zombie-parents'] : []),
    ...(options.mine === undefined ? [] : ['--mine']),
    '--force',
  ].join(' ');

const requestOf = (options: CleanOptions, snapshot: Snapshot, mine: Mine | null): ActRequest => {
  const pids = options.pids.length === 0 ? undefined : options.pids;
  const minimumAgeSeconds = options.ageThresholdMinutes * 60;
  if (options.zombieParents)
    return { act: 'zombies', minimumAgeSeconds, targets: pids && identitiesOf(pids, snapshot) };
  const { suspects, kinds } = options;
  return {
    act: 'clean',
    suspects,
    kinds,
    pids,
    minimumAgeSeconds: pids === undefined ? minimumAgeSeconds : 0,
    ...(mine === null ? {} : { within: mine.processes.map(identityOf), asked: mine.shells.map(identityOf) }),
  };
};

/** A shell that is left alone because it may be in use is said, like everything a plan refuses. */
const withUntold = (plan: Plan, { agent, whyNoShells }: Mine): Plan =>
  whyNoShells === null || agent === null
    ? plan
    : {
        ...plan,
        refused: [
          ...plan.refused,
          {
            ...identityOf(agent),
            name: agent.name,
            why: `its background shells are left alone: ${whyNoShells}`,
          },
        ],
      };

const identitiesOf = (pids: CleanOptions['pids'], snapshot: Snapshot) =>
  snapshot.processes
    .filter(({ facts }) =>
      pids.some(({ pid, start }) => pid === facts.pid && (start === undefined || start === facts.start)),
    )
    .map(({ facts }) => ({ pid: facts.pid, start: facts.start }));

const report = (
  plan: Plan,
  snapshot: Snapshot,
  { execution: result, audited }: { readonly execution: Executed; readonly audited: boolean },
  options: CleanOptions,
  dependencies: CleanDependencies,
): number => {
  const { out, err, abort } = dependencies;
  for (const text of result.warnings) err.write(`reaptop: ${text}\n`);
  if (options.json) writeJson(dependencies, snapshot, plan, result);
  else {
    const paint = painter(options.color);
    for (const outcome of inPlanOrder(plan, result.outcomes))
      out.write(`${outcomeLine(outcome, options.width, paint)}\n`);
    if (options.verbose)
      out.write(
        `Took ${(result.durationMs / 1000).toFixed(1)} s; ${audited ? 'written to the audit log' : 'not in the audit log'}.\n`,
      );
    if (result.stopped !== null) out.write(`Stopped early: ${result.stopped}.\n`);
    out.write(`${summarise(result.outcomes)}\n`);
  }
  if (abort.aborted) return EXIT_INTERRUPTED;
  return leftSomething(result.outcomes) ? EXIT_SURVIVED : 0;
};

const writeJson = (
  { out }: CleanDependencies,
  snapshot: Snapshot,
  plan: Plan,
  result: Executed | null,
): void => {
  const shown = { ...snapshot, processes: snapshot.processes.filter(p => p.related) };
  const document = {
    ...snapshotJson(shown),
    plan: planJson(plan),
    outcomes: outcomesJson(result?.outcomes ?? []),
  };
  out.write(`${showableJson(JSON.stringify(document, null, 2))}\n`);
};

export interface CleanOptions {
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly ageThresholdMinutes: number;
  readonly graceSeconds: number;
  readonly verbose: boolean;
  readonly json: boolean;
  readonly kinds: readonly Kind[];
  readonly suspects: boolean;
  readonly pids: readonly { readonly pid: number; readonly start?: string }[];
  readonly zombieParents: boolean;
  /** Only what the session that calls us left. */
  readonly mine?: AskedBySession | undefined;
  readonly failOn: Severity | null;
  readonly width: number;
  readonly color: boolean;
}

/** The plan as it is read before anything happens, and what to do next. */
const describePlan = (plan: Plan, snapshot: Snapshot, acts: boolean, options: CleanOptions): string => {
  const warnings = snapshot.warnings.map(warning => `! ${warning}\n`).join('');
  const heading = planHeading(acts, options.dryRun);
  const text = planText(plan, { ...options, heading, snapshot, acts });
  if (plan.steps.length === 0) {
    const what = options.zombieParents
      ? 'no parent has zombies that can be dealt with'
      : nothingBecause(snapshot, options);
    return `${warnings}${text}Nothing to do: ${what}.\n`;
  }
  return `${warnings}${text}${acts ? '' : `Nothing was signalled. To run it: reaptop ${askedFor(options)}\n`}`;
};

const nothingBecause = ({ totals }: Snapshot, options: CleanOptions): string => {
  const looked = `${totals.related} of ${totals.processes} processes concern an agent`;
  if (options.pids.length > 0) return 'none of these processes may be ended';
  if (options.mine !== undefined && totals.leaks === 0)
    return 'this session left nothing that is proven leaked, and no shell in the background';
  return totals.leaks === 0
    ? `nothing is proven leaked (${looked})`
    : `all leaks that can be ended are younger than ${options.ageThresholdMinutes} min (reaptop clean --age-threshold 0)`;
};
