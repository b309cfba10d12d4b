import { dirname } from 'node:path';
import { planSweep } from '../../../src/judge/plan/sweep.ts';
import type { SweepFacts, SweepPlan, SweepRequest } from '../../../src/judge/plan/sweep-plan.ts';
import { type Props, sceneOf, TASK } from '../heartbeats/scene.ts';
import { machine } from './machine.ts';

/** Every file lies where it was read, and nobody else can touch it. */
const factsOf = (readings: Props['readings']): SweepFacts => ({
  seen: new Map(
    readings.map(({ path, mtime, size }) => [path, { mtimeMs: mtime, size, file: path, directory: '' }]),
  ),
  unsafe: new Map(),
  growing: new Set(),
  directories: new Map([...readings.map(({ path }) => dirname(path)), TASK].map(path => [path, path])),
  archives: [],
});

/** The sweep that would be planned on an invented machine with these files. */
export const planFor = (props: Props, known: Partial<SweepFacts> = {}): SweepPlan =>
  planSweep(requestFor(props, known));

/** What it is planned from. */
export const requestFor = (props: Props, known: Partial<SweepFacts> = {}): SweepRequest => {
  const { files } = sceneOf(props);
  const snapshot = { ...machine(...(props.processes ?? [])), tmux: props.tmux ?? [] };
  const facts = { ...factsOf(props.readings), ...known };
  return { snapshot, lineageMembers: () => [], files, facts, retentionDays: 7 };
};
