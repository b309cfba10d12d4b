import { leftSomething } from '../act/execute.ts';
import { copyToTmux } from '../act/tmux.ts';
import { scannedFiles } from '../engine/agent-files.ts';
import { type Engine, engineOf } from '../engine/engine.ts';
import { UsageError } from '../engine/load-config.ts';
import type { Prepared } from '../engine/prepare.ts';
import { type RememberedSession, resumeFromAnywhere, wayBackName } from '../model/asleep.ts';
import { forestOf } from '../model/forest.ts';
import type { Plan } from '../model/plan.ts';
import { weightOf } from '../model/plan.ts';
import { LEFT_ALONE, planHeading, summarise } from '../model/plan-text.ts';
import { isZombie, memoryOf } from '../model/process.ts';
import { identityOf, type JudgedProcess, type Snapshot, sessionDoing } from '../model/snapshot.ts';
import { cells, cut, showableJson } from '../model/text.ts';
import { formatAge, formatBytes, formatMoment, plural, spellBytes } from '../model/units.ts';
import { EXIT_FAILURE, EXIT_INTERRUPTED, EXIT_SURVIVED, painter } from '../output.ts';
import { executeShown, outcomeLine, outcomesJson, planJson } from './plan-text.ts';

interface SessionDependencies {
  readonly prepared: Prepared;
  readonly out: { write(text: string): void; readonly isTTY?: boolean };
  readonly err: { write(text: string): void; readonly isTTY?: boolean };
}

interface ActingDependencies extends SessionDependencies {
  readonly abort: AbortSignal;
}

interface WakingDependencies extends ActingDependencies {
  readonly env: NodeJS.ProcessEnv;
}

interface Shown {
  readonly json: boolean;
  readonly width: number;
  readonly color: boolean;
}

/** One session, running or not, as scripts and status bars get it. */
interface SessionLine {
  readonly state: 'running' | 'asleep' | 'lost';
  readonly agent: string;
  readonly id: string | null;
  readonly project: string | null;
  readonly name: string | null;
  readonly cwd: string | null;
  readonly pid: number | null;
  readonly doing: string | null;
  /** When that state began. */
  readonly since: string | null;
  readonly bytes: number;
  /** To be run in `cwd`; null: it has no way back, or none that is known. */
  readonly resume: string | null;
}

const isoOf = (at: number): string => new Date(at).toISOString();

/** Running ones first, then those that sleep or are lost, the latest first. */
const sessionLines = (
  snapshot: Snapshot,
  remembered: readonly RememberedSession[],
): readonly SessionLine[] => {
  const forest = forestOf(snapshot.processes, p => p.facts);
  const ways = new Map(remembered.map(session => [`${session.pid}:${session.start}`, session]));
  const running = snapshot.processes
    .filter(p => p.isSession && !isZombie(p.facts))
    .map((p): SessionLine => {
      const way = ways.get(`${p.facts.pid}:${p.facts.start}`);
      return {
        state: 'running',
        agent: p.agent ?? p.name,
        id: p.session?.id ?? null,
        project: p.session?.project ?? null,
        name: p.session?.name ?? null,
        cwd: p.facts.details?.cwd ?? null,
        pid: p.facts.pid,
        doing: p.session === null ? null : sessionDoing(p.session) || null,
        since: p.ageSeconds === null ? null : isoOf(snapshot.takenAt - p.ageSeconds * 1000),
        bytes: forest.subtreeOf(p).reduce((sum, member) => sum + memoryOf(member.facts), 0),
        resume: way?.resume ?? null,
      };
    });
  const present = new Set(running.map(({ agent, id }) => `${agent} ${id}`));
  const others = remembered
    .filter(({ state, agent, id }) => state !== 'running' && !present.has(`${agent} ${id}`))
    .sort((a, b) => b.at - a.at)
    .map(
      ({ state, agent, id, project, name, cwd, bytes, resume, at }): SessionLine => ({
        ...{ state, agent, id, project, name, cwd, pid: null, doing: null, since: isoOf(at), bytes, resume },
      }),
    );
  return [...running, ...others];
};

const lookAt = async (engine: Engine, err: SessionDependencies['err']) => {
  const snapshot = await engine.sample();
  const { sessions, warning } = engine.remembered(snapshot);
  if (warning !== null) err.write(`reaptop: ${warning}\n`);
  return { snapshot, remembered: sessions };
};

const column = (text: string, width: number): string => {
  const fitted = cut(text, width);
  return fitted + ' '.repeat(Math.max(0, width - cells(fitted)));
};

const nameOf = ({ project, name, cwd }: SessionLine): string =>
  cwd === null ? (project ?? '?') : wayBackName({ project, name, cwd });

const doesOf = ({ state, doing, since }: SessionLine, now: number): string => {
  if (state === 'running') return doing ?? '';
  const at = since === null ? null : Date.parse(since);
  if (at === null) return '';
  return state === 'asleep' ? `for ${formatAge((now - at) / 1000)}` : `at ${formatMoment(at)}`;
};

/** `reaptop sessions`: one line each. */
export const listSessions = async (
  { prepared, out, err }: SessionDependencies,
  { json, width, color }: Shown,
): Promise<number> => {
  const engine = engineOf(prepared, scannedFiles(prepared.config));
  const { snapshot, remembered } = await lookAt(engine, err);
  const lines = sessionLines(snapshot, remembered);
  if (json) {
    const document = { schema: 1, takenAt: isoOf(snapshot.takenAt), sessions: lines };
    out.write(`${showableJson(JSON.stringify(document, null, 2))}\n`);
    return 0;
  }
  const paint = painter(color);
  for (const line of lines) {
    const what = column(`${line.agent} ${nameOf(line)}`, 32);
    const does = column(doesOf(line, snapshot.takenAt), 24);
    const last = line.state === 'running' ? String(line.pid) : `reaptop wake ${line.id?.slice(0, 8)}`;
    const text = `${what} ${does} ${formatBytes(line.bytes).padStart(6)}  ${last}`;
    const tone = line.state === 'lost' ? 'warn' : line.state === 'asleep' ? 'faint' : 'plain';
    out.write(`${paint(line.state.padEnd(8), tone)} ${cut(text, width - 9)}\n`);
  }
  if (lines.length === 0) out.write('No session runs, sleeps or was lost.\n');
  return 0;
};

interface SleepOptions extends Shown {
  /** Session ids or their beginnings, or pids. */
  readonly which: readonly string[];
  /** Absent: what the config calls idle; any time for sessions that are named. */
  readonly idleSeconds: number | undefined;
  readonly force: boolean;
  readonly dryRun: boolean;
}

const LEAST_ID = 4;

const named = (word: string, { processes }: Snapshot): JudgedProcess => {
  const sessions = processes.filter(p => p.isSession && !isZombie(p.facts));
  const byPid = /^\d+$/.test(word) ? sessions.filter(p => p.facts.pid === Number(word)) : [];
  const byId = word.length < LEAST_ID ? [] : sessions.filter(p => p.session?.id?.startsWith(word));
  const found = byPid.length > 0 ? byPid : byId;
  if (found.length === 1) return found[0]!;
  throw new UsageError(
    found.length === 0
      ? `${word} is not the id or pid of a running session; reaptop sessions lists them.`
      : `${word} is the beginning of ${found.length} session ids: type more of it.`,
  );
};

/** `1h`, `90m`, `45s`: as it is typed. */
const idleText = (seconds: number): string =>
  seconds > 0 && seconds % 3600 === 0
    ? `${seconds / 3600}h`
    : seconds > 0 && seconds % 60 === 0
      ? `${seconds / 60}m`
      : `${seconds}s`;

const sleepCommand = ({ which }: SleepOptions, idleSeconds: number): string =>
  [
    'sleep',
    ...which,
    ...(which.length > 0 && idleSeconds === 0 ? [] : [`--idle ${idleText(idleSeconds)}`]),
    '--force',
  ].join(' ');

const describeSleep = (
  plan: Plan,
  acts: boolean,
  command: string,
  { width, color, dryRun }: SleepOptions,
): string => {
  const paint = painter(color);
  const lines: string[] = [];
  if (plan.steps.length > 0) {
    const count = plural(plan.steps.length, 'session');
    const heading = acts ? 'Putting to sleep' : planHeading(acts, dryRun).replace(/end/i, 'put to sleep');
    lines.push(
      paint(`${heading} ${count}, about ${spellBytes(plan.bytes)}; SIGTERM, never SIGKILL`, 'strong'),
    );
    for (const [at, step] of plan.steps.entries()) {
      const way = plan.sleep?.sessions[at]?.way;
      const numbers = `${String(step.pid).padStart(8)} ${formatBytes(weightOf(step)).padStart(6)}  `;
      lines.push(
        cut(`${numbers}${step.name} ${way === undefined ? '' : wayBackName(way)}: ${step.why}`, width),
      );
      lines.push(`${' '.repeat(17)}${way === undefined ? '' : resumeFromAnywhere(way)}`);
    }
  }
  if (plan.refused.length > 0) {
    lines.push(paint(LEFT_ALONE, 'strong'));
    for (const { pid, name, why } of plan.refused)
      lines.push(cut(`${String(pid).padStart(8)}  ${name}: ${why}`, width));
  }
  if (plan.steps.length === 0) lines.push('Nothing to do: no session may be put to sleep now.');
  else if (!acts) lines.push(`Nothing was signalled. To run it: reaptop ${command}`);
  return lines.map(line => `${line}\n`).join('');
};

/** `reaptop sleep`: shows the plan; with `--force` ends idle sessions and keeps the way back. */
export const sleepSessions = async (
  dependencies: ActingDependencies,
  options: SleepOptions,
): Promise<number> => {
  const { prepared, out, err, abort } = dependencies;
  const engine = engineOf(prepared, scannedFiles(prepared.config));
  const { snapshot } = await lookAt(engine, err);
  const targets =
    options.which.length === 0 ? undefined : options.which.map(word => identityOf(named(word, snapshot)));
  const threshold = prepared.config.thresholds['idle-agent'].seconds;
  const minimumIdleSeconds = options.idleSeconds ?? (targets === undefined ? threshold : 0);
  const plan = await engine.plan({ act: 'sleep', targets, minimumIdleSeconds }, { by: 'sleep' });
  const acts = options.force && !options.dryRun;
  const command = sleepCommand(options, minimumIdleSeconds);
  if (!options.json) out.write(describeSleep(plan, acts, command, options));
  const writeJson = (outcomes: Parameters<typeof outcomesJson>[0]): void => {
    const document = { schema: 1, plan: planJson(plan), outcomes: outcomesJson(outcomes) };
    out.write(`${showableJson(JSON.stringify(document, null, 2))}\n`);
  };
  if (!acts || plan.steps.length === 0) {
    if (options.json) writeJson([]);
    return 0;
  }
  const result = await executeShown(engine, plan, err, {
    by: 'sleep',
    why: command,
    signal: abort,
    graceSeconds: 0,
  });
  if (result.status === 'held') {
    err.write(`reaptop: nothing was signalled: ${result.why}\n`);
    return EXIT_FAILURE;
  }
  const { execution } = result;
  for (const warning of [...result.warnings, ...execution.warnings]) err.write(`reaptop: ${warning}\n`);
  if (options.json) writeJson(execution.outcomes);
  else {
    for (const outcome of execution.outcomes)
      out.write(`${outcomeLine(outcome, options.width, painter(options.color))}\n`);
    out.write(
      `${summarise(execution.outcomes)}\nTo bring one back: reaptop wake ID (reaptop sessions lists them)\n`,
    );
  }
  if (abort.aborted) return EXIT_INTERRUPTED;
  return leftSomething(execution.outcomes) ? EXIT_SURVIVED : 0;
};

interface WakeOptions {
  readonly which: readonly string[];
  readonly all: boolean;
  /** Enter the command, and do not only type it. */
  readonly run: boolean;
}

const chosen = (
  remembered: readonly RememberedSession[],
  { which, all }: WakeOptions,
): readonly RememberedSession[] => {
  const away = remembered.filter(({ state }) => state !== 'running');
  const listed = (sessions: readonly RememberedSession[]): string =>
    sessions.map(session => `${session.id.slice(0, 8)} (${wayBackName(session)})`).join(', ');
  if (all) return away.filter(({ state }) => state === 'asleep');
  if (which.length === 0) {
    if (away.length === 1) return away;
    throw new UsageError(
      away.length === 0
        ? 'no session is asleep or lost.'
        : `which one? ${listed(away)}; --all wakes all that sleep.`,
    );
  }
  return which.map(word => {
    const found = word.length < LEAST_ID ? [] : away.filter(({ id }) => id.startsWith(word));
    if (found.length === 1) return found[0]!;
    if (found.length > 1) throw new UsageError(`${word} is the beginning of ${found.length} session ids.`);
    const isRunning = remembered.some(({ id, state }) => state === 'running' && id.startsWith(word));
    throw new UsageError(
      isRunning
        ? `${word} is awake: it runs.`
        : `${word} is not asleep or lost; reaptop sessions lists them.`,
    );
  });
};

/** Where there is no tmux to type it into, the command is shown, and copied as far as that can be. */
const showCommand = async (
  session: RememberedSession,
  { out, err, env }: WakingDependencies,
  why: string,
): Promise<void> => {
  const line = resumeFromAnywhere(session);
  const copied = await copyToTmux(line, env);
  if (!copied && out.isTTY === true) out.write(`\x1b]52;c;${Buffer.from(line).toString('base64')}\x07`);
  err.write(`reaptop: ${why}${copied ? '; copied' : ''}. Run:\n`);
  out.write(`${line}\n`);
};

/** `reaptop wake`: types the way back into its old pane, or a new window, or prints it. */
export const wakeSessions = async (
  dependencies: WakingDependencies,
  options: WakeOptions,
): Promise<number> => {
  const { prepared, out, err, abort } = dependencies;
  const engine = engineOf(prepared, scannedFiles(prepared.config));
  const { remembered } = await lookAt(engine, err);
  let code = 0;
  for (const session of chosen(remembered, options)) {
    const plan = engine.planWake(session, options.run);
    const why = `wake ${session.id}${options.run ? ' --run' : ''}`;
    const result = await engine.execute(plan, { by: 'wake', why, signal: abort });
    if (result.status === 'held') {
      err.write(`reaptop: nothing was typed: ${result.why}\n`);
      return EXIT_FAILURE;
    }
    for (const warning of result.warnings) err.write(`reaptop: ${warning}\n`);
    const [outcome] = result.execution.otherOutcomes;
    if (outcome?.outcome === 'skipped') await showCommand(session, dependencies, outcome.why);
    else out.write(`${wayBackName(session)}: ${outcome?.why ?? ''}\n`);
    if (outcome?.outcome === 'failed') code = EXIT_FAILURE;
  }
  return code;
};
