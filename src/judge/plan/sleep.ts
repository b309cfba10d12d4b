import { isSessionless } from '../../agents/families.ts';
import {
  isResumable,
  type Resume,
  resumeOf,
  resumeWords,
  whyNeverAsleep,
  whyNotResumed,
} from '../../agents/resume.ts';
import { resumeLine, type WayBack } from '../../model/asleep.ts';
import { type Identity, type IdentityKey, keyOf } from '../../model/identity.ts';
import type { AnchorKind, Kind } from '../../model/kind.ts';
import type { AskedBy, EndPolicy, Plan, Refusal, SleepingSession, Step } from '../../model/plan.ts';
import { isZombie, memoryOf, type ProcessFacts } from '../../model/process.ts';
import { identityOf, type JudgedProcess, label, type Snapshot, sessionDoing } from '../../model/snapshot.ts';
import { formatAge, plural } from '../../model/units.ts';
import { anchorOf } from '../rules/climb.ts';
import {
  type PlanContext,
  type PlanInput,
  planContext,
  refusalFor,
  stepFor,
  unknownTarget,
} from './compose.ts';
import { paneOfAgent } from './free-call.ts';
import { neverReason, unfitSnapshot } from './refuse.ts';

export interface SleepRequest extends PlanInput {
  readonly by: AskedBy;
  /** Absent: every session that has been idle for so long; the others are not mentioned. */
  readonly targets?: readonly Identity[] | undefined;
  readonly minimumIdleSeconds: number;
}

const sleepPolicy = (by: AskedBy): EndPolicy => ({
  by,
  signal: 'SIGTERM',
  verdicts: ['live', 'suspect', 'leak'],
  allowSoft: false,
  minimumAgeSeconds: 0,
});

/** Furniture of an agent: it ends with it, and is started again with it. */
const SERVERS: ReadonlySet<Kind> = new Set(['mcp', 'lean-lsp']);
const isServer = ({ kind, seen }: JudgedProcess): boolean =>
  SERVERS.has(kind) || (kind === 'wrapper' && seen.wraps !== null && SERVERS.has(seen.wraps));

/** Idle processes still wake up for timers; a percent of a core is work. */
const WORK_PERCENT = 1;

/** Somebody who sits there sees the session end, and a shell. */
const SEATS: ReadonlySet<AnchorKind> = new Set(['terminal', 'remote-login', 'login']);

/**
 * Seconds since it last did or showed anything; null: not known. What is typed at its prompt shows in its pane, but tmux
 * tells only when something in a whole window was shown: reaptop may be in the pane beside it.
 */
const idleSeconds = (agent: JudgedProcess, snapshot: Snapshot): number | null => {
  const own = agent.session?.seconds ?? null;
  const pane = paneOfAgent(agent, snapshot);
  const isAlone =
    pane !== null &&
    snapshot.tmux
      .flatMap(({ panes }) => panes)
      .every(one => one === pane || one.socket !== pane.socket || one.windowId !== pane.windowId);
  const activity = isAlone ? pane.activity : null;
  const shown = activity === null ? null : Math.max(0, snapshot.takenAt / 1000 - activity);
  return own === null ? null : Math.min(own, shown ?? own);
};

/** Why somebody may use this; null: by all that is known nobody does. */
const inUse = ({ listening, uses }: NonNullable<ProcessFacts['details']>): string | null => {
  if (listening === null || uses === null) return 'whether others use it cannot be read';
  if (listening.ports.length > 0) return `it listens on port ${listening.ports.join(', ')}`;
  const [use] = uses;
  return use === undefined ? null : `it is in use (${use.how} ${use.what})`;
};

/** Why a process below it keeps a session awake; null: it may end with it. */
const whyAwake = (p: JudgedProcess, servers: ReadonlySet<JudgedProcess>): string | null => {
  if (p.isSession || p.agent !== null) return 'it is another session';
  if (!servers.has(p)) return 'it may be at work: it is not a server';
  if (p.facts.details === null) return 'whether others use it cannot be read';
  const used = inUse(p.facts.details);
  if (used !== null) return used;
  const cpu = p.facts.activity?.cpu ?? null;
  if (cpu === null) return 'whether it works is not known yet';
  return cpu >= WORK_PERCENT ? 'it works' : null;
};

/** Servers, and all that is below one. */
const serversBelow = (agent: JudgedProcess, { family }: PlanContext): ReadonlySet<JudgedProcess> =>
  new Set(
    family
      .subtreeOf(agent)
      .filter(p => p !== agent && isServer(p))
      .flatMap(p => family.subtreeOf(p)),
  );

/** It and what is below it, but for what all sessions of its family share: that outlives the one that started it. */
const treeOf = (agent: JudgedProcess, { family }: PlanContext): readonly JudgedProcess[] => {
  const tree = family.subtreeOf(agent);
  const shared = new Set(tree.filter(p => isSessionless(p.seen.role)).flatMap(p => family.subtreeOf(p)));
  return tree.filter(p => !shared.has(p) && !isZombie(p.facts));
};

const whyBelow = (agent: JudgedProcess, context: PlanContext): string | null => {
  const servers = serversBelow(agent, context);
  for (const p of treeOf(agent, context)) {
    if (p === agent) continue;
    const why = neverReason(p, context.snapshot, context.family) ?? whyAwake(p, servers);
    if (why !== null) return `${label(p)} runs below it: ${why}`;
  }
  return null;
};

/** What started it must be a person's: a program would take the end of its agent for a failure. */
const whyStartedBy = (agent: JudgedProcess, { family }: PlanContext): string | null => {
  let at = family.parentOf(agent);
  while (at !== null && at.kind === 'wrapper') at = family.parentOf(at);
  if (at === null) return 'what started it is not known';
  const anchor = anchorOf(at);
  if (at.kind === 'shell' || at.seen.role === 'tmux-server' || (anchor !== null && SEATS.has(anchor)))
    return null;
  return `${label(at)} started it, and is not a shell`;
};

/** What its own process, as the machine shows it, says against it. */
const whyByItself = ({ facts }: JudgedProcess, resume: Resume): string | null => {
  const { argv, details } = facts;
  if (argv === null || details === null) return 'its command line or its files cannot be read';
  const why = whyNotResumed(resume, argv);
  if (why !== null) return why;
  if (details.stdin !== 'tty')
    return details.stdin === 'unknown' ? 'what its input is cannot be read' : 'its input is not a terminal';
  if (details.cwd === null) return 'where it works cannot be read';
  if (/ \(deleted\)$/.test(details.cwd)) return 'the directory it works in is gone';
  if (details.listening === null || details.uses === null) return 'whether others use it cannot be read';
  // It may listen for its own helpers.
  const client = details.uses.find(({ how }) => how === 'unix-client');
  if (details.listening.clients > 0 || client !== undefined) return 'another program is connected to it';
  return null;
};

/** What its session says against it. */
const whyBySession = (
  p: JudgedProcess,
  { snapshot }: PlanContext,
  minimumIdleSeconds: number,
): string | null => {
  const { session } = p;
  if (session === null) return 'what it does is not known';
  if (session.doing === 'waiting') return `it ${sessionDoing(session)}`;
  if (session.doing === 'busy') return `it works: ${sessionDoing(session)}`;
  if (session.doing !== 'idle') return 'what it does is not known';
  // It need not be below it any more.
  if (session.shell === true) return 'a background shell of it runs';
  if (session.calls === undefined) return 'its log could not be read, or nothing was said in it yet';
  if (session.calls.length > 0) return 'a call is pending';
  if (session.unfinished === undefined) return 'whether it is at its prompt is not known';
  if (session.unfinished !== null) return session.unfinished;
  if (!isResumable(session.id)) return 'the id of its session is not known';
  const twin = snapshot.processes.find(
    other =>
      other !== p &&
      other.agent === p.agent &&
      (other.session?.id === session.id || other.seen.sessionIds.includes(session.id!)) &&
      other.isSession &&
      !isZombie(other.facts),
  );
  if (twin !== undefined) return `${label(twin)} has the same session`;
  const idle = idleSeconds(p, snapshot);
  if (idle === null) return 'since when it has been idle is not known';
  if (idle < minimumIdleSeconds)
    return `it has been idle for ${formatAge(idle)} only, not for ${formatAge(minimumIdleSeconds)}`;
  return null;
};

/** Why a session may not be put to sleep; null: it may. Whatever is not known refuses. */
const whyNotSlept = (p: JudgedProcess, context: PlanContext, minimumIdleSeconds: number): string | null => {
  if (!p.isSession) return 'it is not the session of an agent';
  const never = neverReason(p, context.snapshot, context.family);
  if (never !== null) return never;
  const resume = resumeOf(p.agent);
  const family = whyNeverAsleep(p.agent);
  if (resume === null || family !== null) return family;
  if (p.protection !== null) return p.protectedBecause ?? 'it is protected';
  if (p.seen.role !== null) return 'it serves other programs';
  if (!sleepPolicy('sleep').verdicts.includes(p.verdict)) return `its verdict is ${p.verdict}`;
  return (
    whyBySession(p, context, minimumIdleSeconds) ??
    whyByItself(p, resume) ??
    whyStartedBy(p, context) ??
    whyBelow(p, context)
  );
};

const membersOf = (agent: JudgedProcess, context: PlanContext): SleepingSession['members'] =>
  treeOf(agent, context).map(p => ({ ...identityOf(p), bytes: memoryOf(p.facts) }));

/** Where a session is and how it would come back; null: there is no way back. Asked of sessions at work, too. */
export const wayBackOf = (p: JudgedProcess, snapshot: Snapshot, bytes: number): WayBack | null => {
  const resume = resumeOf(p.agent);
  const { argv, details, env } = p.facts;
  const id = p.session?.id ?? null;
  if (resume === null || argv === null || details?.cwd == null || !isResumable(id)) return null;
  const home = resume.home === null ? undefined : env?.[resume.home];
  const named = home === undefined || home === '' ? null : ([resume.home!, home] as const);
  return {
    ...identityOf(p),
    agent: resume.agent,
    id,
    project: p.session?.project ?? null,
    name: p.session?.name ?? null,
    cwd: details.cwd,
    tmux:
      p.tmux === null
        ? null
        : { ...p.tmux, server: snapshot.tmux.find(({ socket }) => socket === p.tmux!.socket)?.pid ?? null },
    bytes,
    resume: resumeLine(resumeWords(resume, id, argv).words, named),
    boot: snapshot.host.bootId,
    registry:
      named?.[1] ?? (resume.registry === null || !env?.HOME ? null : `${env.HOME}/${resume.registry}`),
  };
};

interface Chosen {
  readonly step: Step;
  readonly session: SleepingSession;
}

const chosen = (p: JudgedProcess, context: PlanContext): Chosen | null => {
  const members = membersOf(p, context);
  const bytes = members.reduce((sum, member) => sum + member.bytes, 0);
  const way = wayBackOf(p, context.snapshot, bytes);
  if (way === null) return null;
  const others = members.length - 1;
  const idle = idleSeconds(p, context.snapshot);
  const { dropped } = resumeWords(resumeOf(p.agent)!, way.id, p.facts.argv ?? []);
  const why = [
    idle === null ? '' : `idle ${formatAge(idle)}`,
    others === 0
      ? ''
      : `${plural(others, 'process', 'processes')} below it ${others === 1 ? 'ends' : 'end'} with it`,
    dropped.length === 0 ? '' : `resumed without ${dropped.join(', ')}`,
  ];
  const step = stepFor(p, { root: p, signal: 'SIGTERM', why: why.filter(Boolean).join('; ') });
  return { step: { ...step, rss: bytes }, session: { agent: identityOf(p), way, members } };
};

/** Ends idle sessions by TERM alone, after their way back is written down. */
export const planSleep = (request: SleepRequest): Plan => {
  const context = planContext(request);
  const { snapshot, family } = context;
  const { minimumIdleSeconds, targets } = request;
  const unfit = unfitSnapshot(snapshot, family);
  const refused: Refusal[] = [];
  const wanted: JudgedProcess[] = [];
  if (targets === undefined)
    wanted.push(...snapshot.processes.filter(p => p.isSession && !isZombie(p.facts)));
  for (const target of targets ?? []) {
    const found = family.byKey.get(keyOf(target));
    if (found === undefined || isZombie(found.facts)) refused.push(unknownTarget(target, family));
    else wanted.push(found);
  }
  const found: Chosen[] = [];
  for (const p of new Set(wanted)) {
    const why = unfit ?? whyNotSlept(p, context, minimumIdleSeconds);
    const one = why === null ? chosen(p, context) : null;
    if (one === null) refused.push(refusalFor(p, why ?? 'it has no way back'));
    else found.push(one);
  }
  const steps = found.map(({ step }) => step);
  return {
    steps,
    refused,
    files: [],
    bytes: steps.reduce((sum, { rss }) => sum + rss, 0),
    otherSteps: found.map(({ session: { way }, step }) => ({
      act: 'sleep',
      target: `${step.name} (${step.pid})`,
      why: `way back: ${way.resume}`,
    })),
    policy: sleepPolicy(request.by),
    how: 'sleep',
    sleep: { sessions: found.map(({ session }) => session), minimumIdleSeconds },
  };
};

/** Sessions of a plan that would not be put to sleep by a sample that was taken now, and why. */
export const noLongerSlept = (plan: Plan, snapshot: Snapshot): ReadonlyMap<IdentityKey, string> => {
  const dropped = new Map<IdentityKey, string>();
  if (plan.sleep === undefined) return dropped;
  const { sessions, minimumIdleSeconds } = plan.sleep;
  const by = plan.policy?.by ?? 'sleep';
  const targets = sessions.map(({ agent }) => agent);
  const fresh = planSleep({ snapshot, lineageMembers: () => [], by, targets, minimumIdleSeconds });
  const still = new Map((fresh.sleep?.sessions ?? []).map(({ agent, way }) => [keyOf(agent), way]));
  for (const { agent, way } of sessions) {
    const key = keyOf(agent);
    const now = still.get(key);
    if (now?.resume === way.resume && now.cwd === way.cwd) continue;
    const told = fresh.refused.find(refusal => keyOf(refusal) === key)?.why;
    dropped.set(key, `judged again before the signal: ${told ?? 'its session is another one now'}`);
  }
  return dropped;
};
