import { formatOf } from '../../agents/files/formats.ts';
import type { Finding } from '../../model/finding.ts';
import { formatAge } from '../../model/format.ts';
import { keyOf } from '../../model/identity.ts';
import { type Chore, EMPTY_PLAN, type Plan } from '../../model/plan.ts';
import { planSweep } from './sweep.ts';
import type { SweepRequest } from './sweep-facts.ts';
import { fileAct } from './sweep-file-act.ts';
import { asPlan, type FileAct, type SweepPlan, type SweepRefusal, sweepBytes } from './sweep-plan.ts';

/**
 * A stale lock counts as held for nobody any more, so removing it takes nothing from anybody. `sweep` leaves the locks
 * of live agents to them; who asks for this one in person reads whose it is.
 */
const staleLocks = (request: SweepRequest, { files }: Finding): FileAct[] =>
  request.files.joined.flatMap(({ reading, state, agent, candidates, ageSeconds }) => {
    if (formatOf(reading).limits !== 'lock-stale' || state !== 'warn' || candidates.length === 0) return [];
    if (!files.includes(reading.path) || request.facts.growing.has(reading.path)) return [];
    const whose = agent === null ? 'an agent that lives' : `${agent.name} (${agent.facts.pid}), which lives`;
    const why = `${formatAge(ageSeconds)} old; it belongs to ${whose}`;
    const act = fileAct(reading, request.facts, { why, agent: null });
    return act === null ? [] : [act];
  });

/** The part of a sweep that is about one finding: its files, and the sessions of the agents they belong to. Pure. */
export const planFixFiles = (request: SweepRequest, finding: Finding): SweepPlan => {
  const whole = planSweep(request);
  const wanted = new Set(finding.files);
  const members = new Set(finding.processes.map(keyOf));
  const files = [
    ...whole.files.filter(act => wanted.has(act.path) && act.act !== 'expire'),
    ...staleLocks(request, finding),
  ];
  const agents = new Set(files.map(act => act.agent));
  // The files of an agent are touched only after its session has ended, so its session comes with them.
  const sessions = whole.sessions.filter(
    session => agents.has(session.agent) || session.processes.some(key => members.has(key)),
  );
  const ended = new Set(sessions.flatMap(session => session.processes));
  const steps = whole.ending.steps.filter(step => ended.has(keyOf(step)));
  const bytes = steps.reduce((sum, step) => sum + step.rss, 0);
  const ending = steps.length === 0 ? EMPTY_PLAN : { ...whole.ending, steps, refused: [], bytes };
  return {
    ending,
    sessions,
    files,
    refused: refusedOf(whole, files, request, finding),
    ...sweepBytes(files),
  };
};

/** Why something that the finding names is not in the plan. */
const refusedOf = (
  { refused }: SweepPlan,
  files: readonly FileAct[],
  { files: { joined, orchestrated } }: SweepRequest,
  finding: Finding,
): readonly SweepRefusal[] => {
  const taken = new Set(files.map(act => act.path));
  const agentOf = new Map(joined.map(({ reading }) => [reading.path, reading.agentId]));
  const mine = new Set(
    orchestrated
      .filter(agent => agent.files.some(({ reading }) => finding.files.includes(reading.path)))
      .map(agent => `agent ${agent.id}`),
  );
  const told = refused.filter(({ what }) => mine.has(what) || finding.files.includes(what));
  const explained = new Set(told.map(({ what }) => what));
  const rest = finding.files.filter(
    path => !taken.has(path) && !explained.has(path) && !explained.has(`agent ${agentOf.get(path)}`),
  );
  return [...told, ...rest.map(what => ({ what, why: 'it changed, is gone, or somebody still needs it' }))];
};

/** The same for the eye: what is signalled, then the sessions, then the files. */
export const shownFixFiles = (plan: SweepPlan): Plan => ({
  ...asPlan(plan),
  chores: [
    ...plan.sessions.map(({ session, why }): Chore => ({ act: 'end-session', target: session, why })),
    ...plan.files.map(({ act, path, why }): Chore => ({ act, target: path, why })),
  ],
  leftAlone: plan.refused,
});
