import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, utimesSync } from 'node:fs';
import { gatherSweepFacts } from '../../../src/act/sweep/sweep-facts.ts';
import { scannedFiles } from '../../../src/engine/agent-files.ts';
import { Collector } from '../../../src/engine/collector.ts';
import type { PlanInput } from '../../../src/judge/plan/compose.ts';
import { planSweep } from '../../../src/judge/plan/sweep.ts';
import type { SweepPlan } from '../../../src/judge/plan/sweep-plan.ts';
import { DEFAULT_CONFIG } from '../../../src/model/config-defaults.ts';
import { procfsSystem } from '../../../src/observe/procfs/system.ts';
import type { System } from '../../../src/observe/system.ts';
import type { Sandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

export const TASK = 'work/.agent-workspace/TASK-20260127-100000-abcdef12';

const localTime = (date: Date): string => {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().replace('Z', '000');
};

export interface Files {
  readonly stream: string;
  readonly progress: string;
  readonly findings: string;
  readonly deploy: string;
  readonly prompt: string;
}

/** What the orchestrator keeps of one agent, written as it writes it. */
export const writeAgent = (
  sandbox: Sandbox,
  id: string,
  { finished, ageSeconds = 600 }: { finished: boolean; ageSeconds?: number },
): Files => {
  const then = new Date(Date.now() - ageSeconds * 1000);
  const line = (object: object): string => `${JSON.stringify(object)}\n`;
  const write = (relative: string, text: string): string => {
    const path = sandbox.write(`${TASK}/${relative}`, text);
    utimesSync(path, then, then);
    return path;
  };
  const beat = {
    timestamp: localTime(then),
    agent_id: id,
    status: 'working',
    message: 'at work',
    progress: 50,
  };
  return {
    stream: write(
      `logs/${id}_stream.jsonl`,
      line({ type: 'system', subtype: 'init' }) +
        line({ type: 'assistant' }) +
        (finished
          ? line({ type: 'result', subtype: 'success', is_error: false, session_id: `s-${id}` })
          : ''),
    ),
    progress: write(`progress/${id}_progress.jsonl`, line(beat)),
    findings: write(`findings/${id}_findings.jsonl`, line({ timestamp: localTime(then), message: 'found' })),
    deploy: write(`logs/deploy_${id}.json`, line({ action: 'agent_deployed', agent_id: id })),
    prompt: write(`agent_prompt_${id}.txt`, `You are ${id}.`),
  };
};

/** What is left of an agent's pane when the agent has gone: a shell around the rest of its pipeline. */
export const pipeline = (sandbox: Sandbox): string => {
  const fifo = sandbox.path('never-written');
  if (!existsSync(fifo)) execFileSync('mkfifo', [fifo]);
  return `cat '${fifo}' | tee -a '${sandbox.path('tee')}'`;
};

/** What an archive holds, without the moments of archiving. */
export const archivedNames = (directory: string): string[] =>
  existsSync(directory)
    ? readdirSync(directory)
        .map(name => name.replace(/\.archived-\d{8}T\d{6}Z$/, ''))
        .sort()
    : [];

/** The registry, with whatever it says of each agent. */
export const writeRegistry = (
  sandbox: Sandbox,
  statuses: Readonly<Record<string, string>>,
  session?: string,
): string =>
  sandbox.write(
    `${TASK}/AGENT_REGISTRY.json`,
    JSON.stringify({
      task_id: 'TASK-20260127-100000-abcdef12',
      agents: Object.entries(statuses).map(([id, status]) => ({
        id,
        status,
        tmux_session: session ?? `agent_${id}`,
        started_at: localTime(new Date(Date.now() - 3_600_000)),
      })),
    }),
  );

export interface Sweeper {
  readonly system: System;
  readonly collector: Collector;
  plan(options?: { retentionDays?: number; watchMs?: number }): Promise<SweepPlan>;
  /** The same plan, made anew from the machine as it is now. */
  replan(): Promise<SweepPlan>;
}

/** All of reaptop between the machine and a sweep's plan, on the files and the tmux server of the sandbox. */
export const sweeper = (sandbox: Sandbox): Sweeper => {
  const system = procfsSystem();
  const collector = new Collector({
    system,
    config: DEFAULT_CONFIG,
    env: sandbox.env,
    cwd: sandbox.path('work'),
    roots: [sandbox.path('work')],
    files: scannedFiles(DEFAULT_CONFIG),
  });
  // Another test's tmux server may be starting or ending just now: until it answers, everything is left alone.
  const look = () =>
    until('every tmux server to answer', async () => {
      const now = await collector.collect({ all: true });
      return now.tmux.every(server => server.reachable) ? now : undefined;
    });
  let replan = async (): Promise<SweepPlan> => {
    throw new Error('there is no plan yet');
  };
  return {
    system,
    collector,
    replan: () => replan(),
    plan: async ({ retentionDays = 7, watchMs = 30 } = {}) => {
      const facts = await gatherSweepFacts((await look()).files, { watchMs });
      replan = async () => {
        const snapshot = await look();
        const lineageMembers: PlanInput['lineageMembers'] = target => collector.lineage.membersOf(target);
        return planSweep({ snapshot, lineageMembers, files: snapshot.files, facts, retentionDays });
      };
      return replan();
    },
  };
};
