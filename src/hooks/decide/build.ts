import type { HookSession } from '../../model/hook.ts';
import { fromRepository } from './answers.ts';

/** Who is in the way of a build. */
export interface Busy {
  /** `lake build (4711)`, `session abc`… */
  readonly who: string;
  readonly sinceSeconds: number | null;
  /** What the project itself says about it; null: nothing. */
  readonly theirs?: string | null;
}

export interface BuildFacts {
  /** Another build of the project, or the holder of its lock; null: free. */
  readonly busy: Busy | null;
  readonly denials: HookSession['denials'];
  /** A check of one file, which the throttle may skip; else a build of everything. */
  readonly isCheck: boolean;
  readonly throttled: boolean;
  readonly throttle: HookSession['throttle'];
}

export interface BuildDecision {
  readonly what: 'take' | 'deny' | 'pass';
  /** Why it is denied, or what to say beside an allowance; null: nothing is said. */
  readonly say: string | null;
  readonly denials: HookSession['denials'];
  readonly throttle: HookSession['throttle'];
}

const MOST_DENIALS = 3;
const CHECKS_IN_A_ROUND = 3;
const SKIPS_IN_A_ROUND = 3;

const FRESH = { checks: 0, skips: 0 };

const howLong = ({ sinceSeconds }: Busy): string =>
  sinceSeconds === null ? '' : ` for ${Math.max(0, Math.round(sinceSeconds))} s`;

/**
 * One build of a project at a time; with the throttle, three checks and then three skipped ones, the last of which asks
 * for one build of everything. A call is denied three times in a row at most, however far apart.
 */
export const decideBuild = (facts: BuildFacts): BuildDecision => {
  const { busy, throttle } = facts;
  if (busy !== null) return whenBusy(facts, busy);
  if (!facts.throttled) return { what: 'take', say: null, denials: 0, throttle: FRESH };
  if (!facts.isCheck) return { what: 'take', say: null, denials: 0, throttle: FRESH };
  if (throttle.checks < CHECKS_IN_A_ROUND)
    return {
      what: 'take',
      say: null,
      denials: 0,
      throttle: { checks: throttle.checks + 1, skips: 0 },
    };
  if (throttle.skips < SKIPS_IN_A_ROUND) {
    const skips = throttle.skips + 1;
    const say =
      skips < SKIPS_IN_A_ROUND
        ? `reaptop: ${throttle.checks} checks were made, so this one is skipped. Use lean_goal to see whether the goals are closed, and go on.`
        : 'reaptop: three checks in a row were skipped. Run one lean_build now to check everything at once; then checks are allowed again.';
    return { what: 'deny', say, denials: 0, throttle: { checks: throttle.checks, skips } };
  }
  return {
    what: 'take',
    say: 'reaptop: a lean_build of everything was asked for and has not been run; it would replace several checks like this one.',
    denials: 0,
    throttle: { checks: 1, skips: 0 },
  };
};

const whenBusy = ({ denials, throttle }: BuildFacts, busy: Busy): BuildDecision => {
  const atWork = `reaptop: ${busy.who} has been at work on this project${howLong(busy)}`;
  const theirs = busy.theirs ?? null;
  if (denials >= MOST_DENIALS)
    return {
      what: 'pass',
      say: fromRepository(
        `${atWork}; this call was denied ${denials} times and is allowed now. Two builds at once may exhaust the memory.`,
        theirs,
      ),
      denials: 0,
      throttle,
    };
  return {
    what: 'deny',
    say: fromRepository(
      `${atWork}, and two builds at once undo each other. Go on with something else (lean_goal needs no build) and try again later.`,
      theirs,
    ),
    denials: denials + 1,
    throttle,
  };
};
