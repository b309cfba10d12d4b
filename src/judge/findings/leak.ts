import { forestOf } from '../../model/forest.ts';
import { formatBytes, plural, spellBytes } from '../../model/format.ts';
import { memoryOf } from '../../model/process.ts';
import { identityOf } from '../../model/snapshot.ts';
import type { Detector } from './detector.ts';

/** One finding per leaked root: its subtree goes with it. */
export const leak: Detector = ({ processes, config }) => {
  const leaked = processes.filter(p => p.verdict === 'leak' && p.facts.state !== 'Z');
  const total = leaked.reduce((sum, p) => sum + memoryOf(p.facts), 0);
  const severity = total >= config.thresholds.leak.criticalBytes ? 'critical' : 'warn';
  const forest = forestOf(leaked, p => p.facts);
  return forest.roots.map(root => {
    const group = forest.subtreeOf(root);
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
