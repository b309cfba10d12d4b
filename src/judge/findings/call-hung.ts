import type { Call } from '../../model/call.ts';
import { type Finding, SEVERITIES, type Severity } from '../../model/finding.ts';
import { pushTo } from '../../model/forest.ts';
import { keyOf } from '../../model/identity.ts';
import { identityOf, type JudgedProcess, label, sessionName } from '../../model/snapshot.ts';
import { formatAge } from '../../model/units.ts';
import type { Detector } from './detector.ts';

type Late = Call & { readonly late: NonNullable<Call['late']> };

/** `claude proofs`; its pid where it has no name. */
const whoWaits = (agent: JudgedProcess): string => {
  const name = agent.session === null ? '' : sessionName(agent.session);
  return name === '' ? label(agent) : `${agent.name} ${name}`;
};

const worst = (calls: readonly Late[]): Severity =>
  SEVERITIES.findLast(severity => calls.some(({ late }) => late.severity === severity)) ?? 'info';

const findingOf = (agent: JudgedProcess, calls: readonly Late[]): Finding => {
  const oldest = calls.reduce((a, b) => ((b.seconds ?? 0) > (a.seconds ?? 0) ? b : a));
  const more = calls.length === 1 ? '' : ` and ${calls.length - 1} more`;
  const { process, hung, server } = oldest;
  return {
    id: 'call-hung',
    severity: worst(calls),
    title: `${whoWaits(agent)} has waited ${formatAge(oldest.seconds)} for ${oldest.tool}${more}; ${oldest.late.why}`,
    why: hung
      ? `the call began ${formatAge(oldest.seconds)} ago and has no result${server === null ? '' : ` from the server ${server}`}; ${oldest.late.why}`
      : `slow: the call began ${formatAge(oldest.seconds)} ago; ${oldest.late.why}`,
    processes: process === null ? [identityOf(agent)] : [process, identityOf(agent)],
    files: [],
    remedy: remedyOf(oldest),
    action: hung ? 'free-call' : null,
  };
};

const remedyOf = ({ hung, process, server }: Late): string => {
  if (hung !== true) return 'wait, or interrupt the agent';
  if (process === null) return 'interrupt the call in its pane';
  return server === null
    ? 'end the command, so that the agent goes on, or interrupt it in its pane'
    : 'end its server, so that the call fails and the agent goes on, or interrupt it in its pane';
};

/** A call that takes longer than its limit while what should work on it does nothing; one finding for each server. */
export const callHung: Detector = ({ processes }) =>
  processes.flatMap(agent => {
    const byServer = new Map<string, Late[]>();
    for (const call of agent.session?.calls ?? [])
      if (call.late !== undefined)
        pushTo(byServer, call.process === null ? '' : keyOf(call.process), call as Late);
    return [...byServer.values()].map(calls => findingOf(agent, calls));
  });
