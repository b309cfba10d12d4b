import { callLogOf } from '../../agents/call-logs.ts';
import { type Call, callName } from '../../model/call.ts';
import type { Finding } from '../../model/finding.ts';
import { type Identity, keyOf } from '../../model/identity.ts';
import type { TmuxPane } from '../../model/observation.ts';
import {
  EMPTY_PLAN,
  type EndPolicy,
  type FixWay,
  type FreedCall,
  type OtherStep,
  type Plan,
} from '../../model/plan.ts';
import { identityOf, type JudgedProcess, label, type Snapshot, sessionName } from '../../model/snapshot.ts';
import { type ExtraReason, type PlanContext, refusalFor } from './compose.ts';
import { planEndOn } from './end.ts';

export interface FreeCallRequest {
  /** As it is in the snapshot that is planned from. */
  readonly finding: Finding;
  readonly context: PlanContext;
  readonly policy: EndPolicy;
  readonly extraReason?: ExtraReason | undefined;
  /** Absent: whichever suits who sits there. */
  readonly way?: FixWay | undefined;
}

/** The session that waits, and the calls of it that this finding is about. */
interface Waiting {
  readonly agent: JudgedProcess;
  readonly server: Identity | null;
  readonly calls: readonly Call[];
}

const waitingIn = ({ processes }: Finding, { family }: PlanContext): Waiting | null => {
  const agent = processes
    .map(identity => family.byKey.get(keyOf(identity)))
    .find(p => p?.isSession === true && p.session !== null);
  if (agent === undefined) return null;
  const [first] = processes;
  const server = first === undefined || keyOf(first) === keyOf(agent.facts) ? null : first;
  const key = server === null ? null : keyOf(server);
  const calls = (agent.session?.calls ?? []).filter(
    call => call.hung === true && (call.process === null ? null : keyOf(call.process)) === key,
  );
  return { agent, server, calls };
};

export const paneOfAgent = ({ tmux }: JudgedProcess, snapshot: Snapshot): TmuxPane | null =>
  tmux === null
    ? null
    : (snapshot.tmux
        .find(({ socket, reachable }) => reachable && socket === tmux.socket)
        ?.panes.find(({ pane, dead }) => pane === tmux.pane && !dead) ?? null);

/** Why no key may be sent to the pane of an agent; null: it may. Whether it is in front there is asked right before. */
const whyNotInterrupted = ({ agent, calls }: Waiting, snapshot: Snapshot): string | null => {
  // They work on in the background, where no key reaches them.
  if (calls.length > 0 && calls.every(({ subagent }) => subagent))
    return 'Escape does not reach its subagents';
  const pane = paneOfAgent(agent, snapshot);
  if (pane === null) return 'it is not in a reachable tmux pane';
  if (pane.tty === null || pane.tty !== agent.facts.tty) return 'the terminal of that pane is not its own';
  if (callLogOf(agent.agent) === null) return 'which key interrupts it is not known';
  return agent.session?.doing === 'busy' ? null : 'it is not busy';
};

const frees = ({ agent, server, calls }: Waiting): FreedCall => ({
  agent: identityOf(agent),
  server,
  calls: calls.map(({ id }) => id),
  what: `${toolsOf(calls)} of ${label(agent)}`,
});

/** It is looked whether the call is over, after its server was ended. */
export const freeStep = ({ what }: FreedCall): OtherStep => ({
  act: 'free-call',
  target: what,
  why: 'the call fails, and the agent goes on by itself',
});

/** Whether the calls that a plan means to end are still the ones that hang. */
export const stillHangs = (
  { agent, calls }: FreedCall,
  { processes }: Pick<Snapshot, 'processes'>,
): boolean => {
  const pending = processes.find(p => keyOf(p.facts) === keyOf(agent))?.session?.calls ?? [];
  return calls.every(id => pending.some(call => call.id === id && call.hung === true));
};

const nameOfSession = (agent: JudgedProcess): string => {
  const name = agent.session === null ? '' : sessionName(agent.session);
  return name === '' ? label(agent) : `${label(agent)} ${name}`;
};

const toolsOf = (calls: readonly Call[]): string => [...new Set(calls.map(callName))].join(', ');

/** The server's whole tree: the call fails, and the agent goes on without it. */
const planEnding = (waiting: Waiting, request: FreeCallRequest): Plan => {
  const { agent, server, calls } = waiting;
  const { context, policy, extraReason, finding } = request;
  if (server === null) {
    const why = 'which process works on the call is not known';
    return {
      ...EMPTY_PLAN,
      refused: finding.processes.map(p => refusalFor(context.family.byKey.get(keyOf(p))!, why)),
    };
  }
  const plan = planEndOn(context, { targets: [server], policy }, extraReason);
  if (plan.steps.length === 0) return plan;
  const isCommand = calls.every(call => call.server === null);
  const loses = isCommand
    ? `${nameOfSession(agent)} loses this command`
    : `${nameOfSession(agent)} loses this server; ${callLogOf(agent.agent)?.reconnect ?? 'a new session starts it again'}`;
  const steps = plan.steps.map(step => (keyOf(step) === keyOf(server) ? { ...step, why: loses } : step));
  const freed = frees(waiting);
  return { ...plan, steps, frees: [freed], otherSteps: [freeStep(freed)] };
};

/** A key in the agent's own pane: its server lives, and the session waits for its user. */
const planInterrupting = (waiting: Waiting, { context }: FreeCallRequest): Plan => {
  const { agent } = waiting;
  const why = whyNotInterrupted(waiting, context.snapshot);
  if (why !== null) return { ...EMPTY_PLAN, refused: [refusalFor(agent, why)] };
  const { session, pane } = agent.tmux!;
  return {
    ...EMPTY_PLAN,
    frees: [frees(waiting)],
    otherSteps: [
      {
        act: 'send-escape',
        target: `Escape to ${label(agent)} in tmux ${session} ${pane}`,
        why: `it is interrupted as if you pressed Escape, then waits for you${waiting.server === null ? '' : '; its server keeps running'}`,
      },
    ],
  };
};

/** What frees an agent from a call that will not come back. */
export const planFreeCall = (request: FreeCallRequest): Plan => {
  const { finding, context } = request;
  const waiting = waitingIn(finding, context);
  if (waiting === null)
    return {
      ...EMPTY_PLAN,
      refused: finding.processes.flatMap(p => {
        const known = context.family.byKey.get(keyOf(p));
        return known === undefined ? [] : [refusalFor(known, 'the session that waits for it is not known')];
      }),
    };
  const mayInterrupt = whyNotInterrupted(waiting, context.snapshot) === null;
  const mayEnd = waiting.server !== null;
  const attended = mayInterrupt && paneOfAgent(waiting.agent, context.snapshot)?.attached === true;
  const way = request.way ?? (attended || !mayEnd ? 'interrupt' : 'end');
  const plan = way === 'end' ? planEnding(waiting, request) : planInterrupting(waiting, request);
  const otherWay = way === 'end' ? (mayInterrupt ? 'interrupt' : null) : mayEnd ? 'end' : null;
  return otherWay === null ? plan : { ...plan, otherWay };
};
