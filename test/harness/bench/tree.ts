import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { leaveBehind } from '../../support/leftovers.ts';
import { childrenOf } from '../../support/proc.ts';
import { until } from '../../support/until.ts';
import { median } from './measure.ts';
import { type Row, valueRow } from './report.ts';
import type { Stage } from './stage.ts';

const MEMBERS = 200;
const ROUNDS = { thorough: 5, quick: 1 };

const sizeOf = (pid: number): number => childrenOf(pid).reduce((sum, child) => sum + sizeOf(child.pid), 1);

/** A leaked tree that obeys TERM, from the first signal to the last end that was seen. */
export const benchTree = async (stage: Stage): Promise<Row[]> => {
  const { sandbox, cli, commandOptions } = stage;
  await stage.crowd.be(0);
  const tree = readFileSync(resolve(stage.repository, 'test/fixtures/programs/tree-of-200.sh'), 'utf8');
  const program = sandbox.write('bin/mcp-server-200', tree, 0o755);
  const seconds: number[] = [];
  for (let round = 0; round < ROUNDS[stage.quick ? 'quick' : 'thorough']; round += 1) {
    const [root] = await leaveBehind(sandbox, program);
    await until('the whole tree', () => sizeOf(root!.pid) === MEMBERS);
    const args = ['clean', '--force', '--age-threshold', '0', '--verbose'];
    const { stdout, status } = spawnSync(cli, args, { ...commandOptions, encoding: 'utf8' });
    const took = /^Took ([\d.]+) s;/m.exec(stdout)?.[1];
    if (status !== 0 || took === undefined || !stdout.includes(`${MEMBERS} ended`))
      throw new Error(`the tree was not ended: ${stdout.slice(-200)}`);
    seconds.push(Number(took));
  }
  const note = ` (median of ${seconds.join(', ')})`;
  return [valueRow(`clean, a tree of ${MEMBERS} that obeys TERM`, median(seconds), 's', 1, note)];
};
