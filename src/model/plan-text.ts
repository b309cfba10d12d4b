import type { Finding, FindingAction } from './finding.ts';
import { keyOf } from './identity.ts';
import {
  type ActRequest,
  CLEAN_AGE_MINUTES,
  type FixWay,
  type OtherOutcome,
  OUTCOMES,
  type Outcome,
  type Plan,
  type SignalName,
  type Step,
  spellBack,
} from './plan.ts';
import {
  identityOf,
  type JudgedProcess,
  label,
  nameAndPid,
  type Snapshot,
  sessionLastActive,
  sessionName,
} from './snapshot.ts';
import { cells } from './text.ts';
import { plural, spellBytes } from './units.ts';

const isNudge = (step: Step): boolean => step.signal === 'SIGCHLD';

/** `3 processes`; for zombies who is nudged, and who is ended if that does not help. */
export const countSteps = ({ steps }: Pick<Plan, 'steps'>): string => {
  const nudged = steps.filter(isNudge);
  const ended = steps.filter(step => !isNudge(step));
  if (nudged.length === 0) return plural(ended.length, 'process', 'processes');
  const [only, ...others] = nudged;
  const who = others.length === 0 ? nameAndPid(only!.name, only!.pid) : `${nudged.length} parents`;
  if (ended.length === 0) return `nudge ${who}`;
  const servers = new Set(ended.map(({ root }) => keyOf(root))).size;
  const below = ended.length - servers;
  const them = others.length === 0 ? 'it' : plural(servers, 'server');
  const state = others.length === 0 ? 'and it is idle' : 'and they are idle';
  return `nudge ${who}; if that fails ${state}, end ${them}${below === 0 ? '' : ` and ${below} below`}`;
};

/** `, about 3.1 GiB reclaimable`, where there is something. */
const reclaimable = (plan: Plan): string => (plan.bytes > 0 ? `, ${spellBack(plan)} reclaimable` : '');

/** `1 tmux session, 5 files`; empty when there is none. */
export const otherStepsText = ({ otherSteps: chores = [] }: Plan): string => {
  const sessions = chores.filter(({ act }) => act === 'end-session').length;
  const jobs = chores.filter(({ act }) => act === 'claude-stop').length;
  const keys = chores.filter(({ act }) => act === 'send-escape').length;
  const calls = chores.filter(({ act }) => act === 'free-call').length;
  const files = chores.length - sessions - jobs - keys - calls;
  return [
    keys > 0 ? 'Escape in its pane' : '',
    sessions > 0 ? plural(sessions, 'tmux session') : '',
    jobs > 0 ? plural(jobs, 'background session') : '',
    files > 0 ? plural(files, 'file') : '',
  ]
    .filter(Boolean)
    .join(', ');
};

/** `CONT`, `TERM or KILL`. */
export const signalNames = (steps: readonly Step[]): string =>
  [...new Set(steps.map(step => shortSignal(step.signal)))].join(' or ');

const ends = ({ signal }: Step): boolean => signal === 'SIGTERM' || signal === 'SIGKILL';

/** `TERM, KILL after 5 s`: what would really be sent. */
export const signalsSent = ({ steps }: Pick<Plan, 'steps'>, graceSeconds: number): string => {
  const ending = steps.filter(ends);
  if (ending.length === 0) return signalNames(steps);
  const nudge = steps.some(isNudge) ? 'CHLD first; ' : '';
  const grace = ending.some(({ signal }) => signal === 'SIGTERM') ? `, KILL after ${graceSeconds} s` : '';
  return `${nudge}${signalNames(ending)}${grace}`;
};

/** The same, and in which order where that matters: `TERM, KILL after 5 s, children first`. */
export const endingSignals = (plan: Pick<Plan, 'steps'>, graceSeconds: number): string =>
  `${signalsSent(plan, graceSeconds)}${plan.steps.some(ends) ? ', children first' : ''}`;

/** What stands above a plan in text: whether it happens now. */
export const planHeading = (acts: boolean, dryRun: boolean): string =>
  acts ? 'Ending' : dryRun ? 'Dry run: would end' : 'Would end';

/** Above what a plan does not touch. */
export const LEFT_ALONE = 'Left alone:';

/** `7 ended, 1 killed, 3.1 GiB freed`: from what happened, never from what was intended. */
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
  return `${parts.join(', ')}${freed > 0 ? `, ${about}${spellBytes(freed)} freed` : ''}`;
};

/** The same with files and sessions: `1 ended, 96 MiB freed, 2 done, 1 skipped: it changed after the plan was made`. */
export const summariseAll = (outcomes: readonly Outcome[], chores: readonly OtherOutcome[]): string => {
  const parts = outcomes.length > 0 ? [summarise(outcomes)] : [];
  const done = chores.filter(({ outcome }) => outcome === 'done');
  const ended = done.filter(({ act }) => act === 'end-session' || act === 'claude-stop').length;
  const archived = done.filter(({ act }) => act === 'archive').length;
  const freed = done.filter(({ act }) => act === 'free-call' || act === 'send-escape').length;
  const removed = done.length - ended - archived - freed;
  if (freed > 0) parts.push('the call is over');
  if (ended > 0) parts.push(`${plural(ended, 'session')} ended`);
  if (archived > 0) parts.push(`${plural(archived, 'file')} archived`);
  if (removed > 0) parts.push(`${plural(removed, 'file')} removed`);
  const left = chores.filter(({ outcome }) => outcome !== 'done');
  if (left.length > 0) parts.push(`${left.length} left: ${left[0]!.why}`);
  return parts.length === 0 ? 'nothing to do' : parts.join(', ');
};

/** What each signal is for, in the order of the chooser. */
export const SIGNALS: readonly { readonly name: SignalName; readonly means: string }[] = [
  { name: 'SIGTERM', means: 'ask it to end; it may clean up first' },
  { name: 'SIGINT', means: 'interrupt, as Ctrl-C does' },
  { name: 'SIGHUP', means: 'the terminal is gone; some reload instead' },
  { name: 'SIGQUIT', means: 'quit with a core dump or a stack trace' },
  { name: 'SIGSTOP', means: 'pause it; SIGCONT resumes it' },
  { name: 'SIGCONT', means: 'resume after a pause' },
  { name: 'SIGCHLD', means: 'report that a child has ended' },
  { name: 'SIGUSR1', means: 'whatever the program uses it for' },
  { name: 'SIGUSR2', means: 'whatever the program uses it for' },
  { name: 'SIGKILL', means: 'end at once: it cannot clean up' },
];

export const shortSignal = (signal: SignalName): string => signal.slice(3);

/** More than these are counted: the plan's list has them all. */
const NAMED = 3;

/** `the running codex session web in tmux work (last active 40s ago)`. */
const sessionText = (p: JudgedProcess): string => {
  const name = p.session ? sessionName(p.session) : '';
  const active = p.session ? sessionLastActive(p.session) : '';
  const place = p.tmux === null ? '' : ` in tmux ${p.tmux.session}`;
  return `the running ${p.agent ?? p.name} session${name && ` ${name}`}${place}${active && ` (${active})`}`;
};

const ownerText = (p: JudgedProcess, { processes }: Snapshot): string => {
  const owner = p.owner?.alive ? processes.find(o => o.facts.pid === p.owner?.pid) : undefined;
  if (owner === undefined) return '';
  const name = owner.session ? sessionName(owner.session) : '';
  return `, in use by ${label(owner)}${name && ` ${name}`}`;
};

const liveText = (p: JudgedProcess, snapshot: Snapshot): string =>
  p.isSession ? sessionText(p) : `${label(p)}${ownerText(p, snapshot)}`;

/** What is at work among the processes of the plan: sessions first, else the roots of what would be ended. */
const atWork = ({ steps }: Plan, { processes }: Snapshot): readonly JudgedProcess[] => {
  const named = new Set(steps.filter(s => s.signal !== 'SIGCHLD').map(keyOf));
  const roots = new Set(steps.map(s => keyOf(s.root)));
  const live = processes.filter(
    p => named.has(keyOf(identityOf(p))) && (p.verdict === 'live' || p.protection === 'soft'),
  );
  const sessions = live.filter(p => p.isSession);
  return sessions.length > 0 ? sessions : live.filter(p => roots.has(keyOf(identityOf(p))));
};

/** The first lines of a plan that would end live work: it must not look like a leak. */
export const liveWarnings = (plan: Plan, snapshot: Snapshot, verb: string): readonly string[] => {
  const live = atWork(plan, snapshot);
  const told = live.slice(0, NAMED).map(p => `LIVE: ${verb} ${liveText(p, snapshot)}`);
  return live.length > NAMED ? [...told, `LIVE: and ${live.length - NAMED} more`] : told;
};

type Worded = {
  readonly [A in ActRequest['act']]: (request: Extract<ActRequest, { act: A }>) => string;
};

const word = (words: Worded, request: ActRequest): string =>
  // The table's type guarantees that the entry takes this request; the compiler cannot relate the two unions.
  (words[request.act] as (request: ActRequest) => string)(request);

const WAYS = { end: 'end', interrupt: 'interrupt', sleep: 'sleep' } satisfies Record<FixWay, string>;

/** What the other way of a plan does, for who may choose. */
export const otherWayText = ({ otherWay, frees }: Pick<Plan, 'otherWay' | 'frees'>): string => {
  if (otherWay === undefined) return '';
  if (otherWay === 'interrupt') return 'interrupt it in its pane instead';
  if (otherWay === 'sleep') return 'sleep: end it, keep the way back';
  return frees === undefined ? 'end it without a way back instead' : 'end its server instead';
};

const SOUGHT: Worded = {
  end: ({ force }) => (force ? 'Kill at once' : 'End'),
  clean: () => 'Clean what is proven leaked',
  zombies: () => 'Zombies',
  sleep: () => 'Put to sleep',
  signal: ({ signal }) => `Signal ${signal}`,
  fix: ({ finding, way }) =>
    finding.action === 'remove-file'
      ? 'Remove stale files'
      : `Fix ${finding.id}${way === undefined ? '' : `, ${WAYS[way]}`}`,
};

/** `Clean what is proven leaked: 10 processes, 3.2 GiB reclaimable`, or the figure alone where that is too long. */
export const planTitle = (request: ActRequest, plan: Plan, room = Number.POSITIVE_INFINITY): string => {
  const chores = otherStepsText(plan);
  const counted = [plan.steps.length === 0 && chores !== '' ? '' : countSteps(plan), chores];
  const told = `${word(SOUGHT, request)}: ${counted.filter(Boolean).join(', ')}`;
  const whole = `${told}${reclaimable(plan)}`;
  return cells(whole) <= room || plan.bytes === 0 ? whole : `${told}, ${spellBack(plan)}`;
};

const MENDS = {
  clean: 'ends',
  zombies: 'may end',
  end: 'ends',
  continue: 'sends SIGCONT to',
  sweep: 'ends',
  'remove-file': 'ends',
  'stop-session': 'ends',
  'free-call': 'ends',
  sleep: 'puts to sleep',
} satisfies Record<FindingAction, string>;

const DOES: Worded = {
  end: () => 'ends',
  clean: () => 'ends',
  zombies: () => 'may end',
  sleep: () => 'puts to sleep',
  signal: ({ signal }) => `sends ${signal} to`,
  fix: ({ finding }) => MENDS[finding.action ?? 'end'],
};

/** `ends`, `may end`, `sends SIGSTOP to`: what a plan for this does to a process. */
export const doesTo = (request: ActRequest): string => word(DOES, request);

/** The clean that does not answer "Nothing to do" about something this old. */
export const cleanCommand = (oldestSeconds: number): string =>
  oldestSeconds >= CLEAN_AGE_MINUTES * 60 ? 'reaptop clean' : 'reaptop clean --age-threshold 0';

/** What to type for what a finding asks for; null: the screen is the place for it. */
const COMMANDS = {
  clean: (_finding, oldestSeconds) => cleanCommand(oldestSeconds),
  zombies: () => 'reaptop clean --zombie-parents',
  end: () => null,
  // The remedy itself names `claude stop ID`.
  'stop-session': () => null,
  'free-call': () => null,
  sleep: ({ processes }) => `reaptop sleep ${processes.map(({ pid }) => pid).join(' ')}`,
  continue: ({ processes }) => `kill -CONT ${processes.map(({ pid }) => pid).join(' ')}`,
  sweep: () => 'reaptop sweep',
  // A lock of an agent that lives is that agent's business: sweep leaves it.
  'remove-file': ({ id, processes }) =>
    processes.length === 0 && id !== 'heartbeat-stale' ? 'reaptop sweep' : null,
} satisfies Record<FindingAction, (finding: Finding, oldestSeconds: number) => string | null>;

/** `end them: 901 MiB reclaimable (reaptop clean)`: the remedy with the command, for who reads it in a shell. */
export const remedyInText = (finding: Finding, oldestSeconds: number): string => {
  const command = finding.action === null ? null : COMMANDS[finding.action](finding, oldestSeconds);
  return command === null ? finding.remedy : `${finding.remedy} (${command})`;
};

/** `f: end them: 901 MiB reclaimable`: the same with its key, for who has the screen and needs no command. */
export const remedyInKeys = ({ remedy, action }: Finding): string =>
  action === null ? remedy : `f: ${remedy}`;
