import { describe, expect, it } from 'vitest';
import { handPolicy } from '../../src/judge/plan/compose.ts';
import { planBuilds, planDuplicates } from '../../src/judge/plan/fix.ts';
import type { FindingId } from '../../src/model/finding.ts';
import { type Row, world } from '../support/world.ts';

const SERVER = 'node /opt/mcp-server-github';

/** What the finding speaks of, and what its plan would end. */
const findingAndPlan = (id: FindingId, rows: readonly Row[]) => {
  const { snapshot } = world(rows);
  const plan = id === 'duplicate-server' ? planDuplicates : planBuilds;
  const { steps, refused } = plan({ snapshot, policy: handPolicy(), lineageMembers: () => [] });
  return {
    found: snapshot.findings.filter(f => f.id === id).map(f => f.processes.map(p => p.pid)),
    ended: steps.map(step => step.pid).sort((a, b) => a - b),
    refused: refused.map(r => r.pid),
  };
};

describe('what finding and plan mean', () => {
  it('a build is one with its re-executed self, and the oldest stays', () => {
    const rows: Row[] = [
      [1000, 80_001, 'lake build'],
      [1001, 1000, 'lake.orig build'],
      [2000, 80_001, 'lake build'],
      [2001, 2000, 'lake.orig build'],
    ];
    expect(findingAndPlan('concurrent-builds', rows)).toEqual({
      found: [[1000, 2000]],
      ended: [2000, 2001],
      refused: [],
    });
    expect(findingAndPlan('concurrent-builds', rows.slice(0, 2))).toMatchObject({ found: [] });
  });

  it('a duplicate goes with the wrapper that carries it alone, and the newest stays', () => {
    const rows: Row[] = [
      [1000, 80_001, 'gemini'],
      [1001, 1000, 'npm exec x-mcp'],
      [1002, 1001, SERVER],
      [1003, 1000, 'npm exec x-mcp'],
      [1004, 1003, SERVER],
    ];
    expect(findingAndPlan('duplicate-server', rows)).toMatchObject({
      found: [[1002, 1004]],
      ended: [1001, 1002],
    });
  });

  it('a shell that carries both is not ended for one of them', () => {
    const rows: Row[] = [
      [1000, 80_001, 'gemini'],
      [1001, 1000, 'bash run-servers.sh'],
      [1002, 1001, SERVER],
      [1003, 1001, SERVER],
    ];
    expect(findingAndPlan('duplicate-server', rows)).toMatchObject({ found: [[1002, 1003]], ended: [1002] });
  });

  it('what another user manager adopted is nobody’s duplicate', () => {
    const rows: Row[] = [
      [700, 1, '/usr/lib/systemd/systemd --user', { comm: 'systemd' }],
      [1002, 700, SERVER],
      [1003, 700, SERVER],
    ];
    expect(findingAndPlan('duplicate-server', rows)).toMatchObject({ found: [], ended: [] });
  });

  it('births that do not tell which is the newest end nobody', () => {
    const rows: Row[] = [
      [1000, 80_001, 'gemini'],
      [1002, 1000, SERVER, { born: 50 }],
      [1003, 1000, SERVER, { born: 50 }],
    ];
    expect(findingAndPlan('duplicate-server', rows)).toMatchObject({
      found: [[1002, 1003]],
      ended: [],
      refused: [1002, 1003],
    });
  });
});
