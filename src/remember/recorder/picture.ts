import { type IdentityKey, keyOf } from '../../model/identity.ts';
import type { HostFacts, TmuxServer } from '../../model/observation.ts';
import type { JudgedProcess, Snapshot, Totals } from '../../model/snapshot.ts';
import type { Json } from './difference.ts';

/** A list whose members change one by one: by key, and in which order. */
export interface Keyed<T> {
  readonly order: readonly string[];
  readonly items: Readonly<Record<string, T>>;
}

/**
 * A judged moment as it is kept: what the tree, the findings and the detail show, and never an environment. Ages are kept
 * as the moment they count from (a process's is its birth): a number that changes every ten seconds would be most of the
 * recording.
 */
export interface Picture {
  readonly host: HostFacts;
  readonly totals: Totals;
  readonly warnings: readonly string[];
  readonly processes: Keyed<Json>;
  readonly findings: Keyed<Json>;
  readonly heartbeats: Keyed<Json>;
  readonly tmux: readonly TmuxServer[];
}

const keyedBy = <T>(
  list: readonly T[],
  keyFor: (item: T) => string,
  kept: (item: T) => Json,
): Keyed<Json> => {
  const items = new Map<string, Json>();
  for (const item of list) {
    const name = keyFor(item);
    let key = name;
    for (let n = 2; items.has(key); n += 1) key = `${name}#${n}`;
    items.set(key, kept(item));
  }
  return { order: [...items.keys()], items: Object.fromEntries(items) };
};

/** `undefined` is not in JSON, and a difference would say for ever that such a field went. */
const plain = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

const rounded = (value: number | null, digits: number): number | null =>
  value === null ? null : Number(value.toFixed(digits));

const sinceOf = (seconds: number | null, takenAt: number): number | null =>
  seconds === null ? null : Math.round(takenAt - seconds * 1000);

const keptProcess =
  (takenAt: number) =>
  ({ facts, session, ageSeconds: _, doubt: __, servesOne: ___, ...p }: JudgedProcess): Json =>
    plain({
      ...p,
      facts: {
        ...facts,
        env: null,
        // What moves at every sample and is shown nowhere.
        activity: undefined,
        details: facts.details === null ? null : { ...facts.details, io: null, outputAt: undefined },
        cpu: rounded(facts.cpu, 1),
        cpuSeconds: rounded(facts.cpuSeconds, 2),
      },
      session: session === null ? null : { ...session, seconds: sinceOf(session.seconds, takenAt) },
    });

const findingKey = ({ id, processes, files }: Snapshot['findings'][number]): string => {
  const [first] = processes;
  return `${id} ${first === undefined ? (files[0] ?? '') : (keyOf(first) satisfies IdentityKey)}`;
};

/** Only related processes are kept: a recording is about agents. */
export const pictureOf = (snapshot: Snapshot): Picture => ({
  host: snapshot.host,
  totals: snapshot.totals,
  warnings: snapshot.warnings,
  processes: keyedBy(
    snapshot.processes.filter(p => p.related),
    p => keyOf(p.facts),
    keptProcess(snapshot.takenAt),
  ),
  findings: keyedBy(snapshot.findings, findingKey, plain),
  heartbeats: keyedBy(
    snapshot.heartbeats,
    beat => beat.path,
    beat => plain({ ...beat, ageSeconds: sinceOf(beat.ageSeconds, snapshot.takenAt) }),
  ),
  tmux: snapshot.tmux,
});
