import { type FileRecord, runFileAct } from '../../../src/act/sweep/file-acts.ts';
import { gatherSweepFacts } from '../../../src/act/sweep/sweep-facts.ts';
import { judgeFiles } from '../../../src/judge/heartbeats/judge-files.ts';
import { planSweep } from '../../../src/judge/plan/sweep.ts';
import type { SweepPlan } from '../../../src/judge/plan/sweep-plan.ts';
import { DEFAULT_CONFIG } from '../../../src/model/config-defaults.ts';
import { scanFiles } from '../../../src/observe/files/watched-directories.ts';
import { machine } from '../../judge/plan/machine.ts';
import type { Sandbox } from '../../support/sandbox.ts';

/** The files' part of a sweep: nothing runs for any of these agents. */
export const filesPlan = async (sandbox: Sandbox): Promise<SweepPlan> => {
  const { readings } = scanFiles([sandbox.path('work')], []);
  const now = Date.now();
  const files = judgeFiles({ readings, processes: [], tmux: [], sessions: [], config: DEFAULT_CONFIG, now });
  const facts = await gatherSweepFacts(files, { watchMs: 0 });
  return planSweep({ snapshot: machine(), lineageMembers: () => [], files, facts, retentionDays: 7 });
};

export const runFiles = ({ files }: SweepPlan): FileRecord[] => files.map(act => runFileAct(act));
