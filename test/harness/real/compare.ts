import type { JsonProcess, JsonSnapshot } from '../../support/cli.ts';
import type { Stage } from './stage/stage.ts';
import { everybody, lasting, type Seen } from './stage/table.ts';
import { identityOf, kindOf, type Truth, truthOf } from './truth.ts';

/** One process of the scene: what it is, and what the product said. */
export interface Compared {
  readonly seen: Seen;
  readonly truth: Truth | null;
  readonly said: Pick<JsonProcess, 'verdict' | 'kind' | 'owner' | 'why' | 'name'> | null;
  readonly wrong: readonly string[];
}

const wrongOwner = (wanted: Truth['owner'], owner: JsonProcess['owner']): string | null => {
  if (wanted === undefined) return null;
  const told =
    owner === null
      ? 'none'
      : `${owner.pid ?? owner.sessionId} (${owner.how}, ${owner.alive ? 'alive' : 'dead'})`;
  if (wanted === null) return owner === null ? null : `owner ${told} instead of none`;
  if (wanted === 'dead') return owner !== null && !owner.alive ? null : `owner ${told} instead of a dead one`;
  return owner?.pid === wanted && owner.alive ? null : `owner ${told} instead of ${wanted}`;
};

const compareOne = (seen: Seen, truth: Truth | null, said: JsonProcess | undefined): readonly string[] => {
  if (truth === null) return ['the scene does not know this process'];
  if (said === undefined) return ['not shown at all'];
  const verdicts = [truth.verdict].flat();
  const kind = truth.kind ?? kindOf(seen);
  return [
    verdicts.includes(said.verdict as never) ? null : `${said.verdict} instead of ${verdicts.join(' or ')}`,
    said.kind === kind ? null : `kind ${said.kind} instead of ${kind}`,
    wrongOwner(truth.owner, said.owner),
  ].filter(problem => problem !== null);
};

/** Compares every process of the scene with what the scene knows; `apart` are the runner's own. */
export const compare = (
  stage: Stage,
  snapshot: JsonSnapshot,
  apart: ReadonlySet<number>,
): readonly Compared[] => {
  const table = everybody();
  const byPid = new Map(table.map(seen => [seen.pid, seen]));
  const told = new Map(snapshot.processes.map(said => [identityOf(said), said]));
  const stays = new Set(lasting().map(identityOf));
  return table
    .filter(seen => seen.pid !== 1 && !apart.has(seen.pid) && stays.has(identityOf(seen)))
    .map(seen => {
      const truth = truthOf(seen, byPid, stage.claims);
      const said = told.get(identityOf(seen));
      return { seen, truth, said: said ?? null, wrong: compareOne(seen, truth, said) };
    });
};

/** Leaks make their own finding; every other one must be what the scene says. */
export const compareFindings = (stage: Stage, snapshot: JsonSnapshot, leaks: number): readonly string[] => {
  const shown = new Set(snapshot.findings.map(finding => finding.id));
  const wanted = new Set([...stage.findings, ...(leaks > 0 ? ['leak'] : [])]);
  return [
    ...[...wanted].filter(id => !shown.has(id)).map(id => `finding ${id} is missing`),
    ...snapshot.findings
      .filter(({ id }) => !wanted.has(id))
      .map(({ id, title }) => `finding ${id} is not true: ${title}`),
  ];
};
