import { formatBytes, plural, spellBytes } from '../../model/format.ts';
import { memoryOf } from '../../model/process.ts';
import { identityOf, type JudgedProcess } from '../../model/snapshot.ts';
import type { Detector } from './detector.ts';

/** One finding per leaked root: its subtree goes with it. */
export const leak: Detector = ({ processes, config }) => {
  const leaked = processes.filter(p => p.verdict === 'leak' && p.facts.state !== 'Z');
  const total = leaked.reduce((sum, p) => sum + memoryOf(p.facts), 0);
  const severity = total >= config.thresholds.leak.criticalBytes ? 'critical' : 'warn';
  const byPid = new Map(leaked.map(p => [p.facts.pid, p]));
  const members = new Map<JudgedProcess, JudgedProcess[]>();
  for (const p of leaked) {
    const root = rootOf(p, byPid);
    members.set(root, [...(members.get(root) ?? []), p]);
  }
  return [...members].map(([root, group]) => {
    const bytes = group.reduce((sum, p) => sum + memoryOf(p.facts), 0);
    return {
      id: 'leak',
      severity,
      title: `${root.name} leaked: ${plural(group.length, 'process', 'processes')}, ${formatBytes(bytes)}`,
      why: root.why.join('; '),
      processes: group.map(identityOf),
      files: [],
      remedy: `end the subtree of ${root.facts.pid}: ${spellBytes(bytes)} come back (reaptop clean)`,
      action: 'clean',
    };
  });
};

const rootOf = (p: JudgedProcess, leaked: ReadonlyMap<number, JudgedProcess>): JudgedProcess => {
  let root = p;
  const passed = new Set([p]);
  for (
    let up = leaked.get(root.facts.ppid ?? -1);
    up !== undefined && !passed.has(up);
    up = leaked.get(root.facts.ppid ?? -1)
  ) {
    passed.add(up);
    root = up;
  }
  return root;
};
