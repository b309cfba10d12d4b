import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { handPolicy } from '../../src/judge/plan/compose.ts';
import { planEnd } from '../../src/judge/plan/end.ts';
import type { Identity } from '../../src/model/identity.ts';
import type { OutcomeKind, Plan } from '../../src/model/plan.ts';
import type { Snapshot } from '../../src/model/snapshot.ts';
import { procfsSystem } from '../../src/observe/procfs/system.ts';
import type { System } from '../../src/observe/system.ts';
import { invent, snapshotOf } from '../judge/plan/machine.ts';
import { allPids, isRunning, type RawProcess, rawProcess } from '../support/proc.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

export const program = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/programs/${name}`, import.meta.url));

/** Every process of this machine, judged as a leak: these tests are about ending, not about judging. */
export const everythingLeaked = async (system: System): Promise<Snapshot> => {
  const look = await system.sample();
  const processes = look.processes.map(facts =>
    invent(facts.pid, facts.ppid ?? 0, {
      facts,
      name: facts.comm,
      command: (facts.argv ?? [facts.comm]).join(' '),
    }),
  );
  return snapshotOf(processes, { self: look.self, clock: look.clock, host: look.host });
};

export const planFor = async (
  system: System,
  targets: readonly Identity[],
  signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM',
): Promise<Plan> =>
  planEnd({
    snapshot: await everythingLeaked(system),
    targets,
    policy: handPolicy(signal),
    lineageMembers: () => [],
  });

export interface Bystander extends RawProcess {
  readonly what: string;
}

/** The test's own ancestors, another session, and one that looks exactly like the victim. */
export const bystanders = (sandbox: Sandbox, decoyOf?: readonly [string, ...string[]]): Bystander[] => {
  const found: Bystander[] = [];
  for (let p = rawProcess(process.pid); p !== null && p.pid > 0; p = rawProcess(p.ppid))
    found.push({ ...p, what: 'an ancestor of the test' });
  const { child: _session, ...session } = sandbox.start(['sleep', '600'], { detached: true });
  found.push({ ...session, what: 'a sibling session' });
  if (decoyOf !== undefined) {
    const { child: _decoy, ...decoy } = sandbox.start(decoyOf, { detached: true });
    found.push({ ...decoy, what: 'a decoy with the same argv' });
  }
  return found;
};

/** Names of the bystanders that did not survive; must be empty. */
export const hurt = (people: readonly Bystander[]): string[] =>
  people.filter(p => !isRunning(p.pid, p.start)).map(p => `${p.what} (${p.pid} ${p.comm})`);

/** Starts a fixture in a session of its own and waits until it says that it is ready. */
export const startReady = async (sandbox: Sandbox, name: string): Promise<RawProcess> => {
  const ready = sandbox.path(`ready-${name}-${Math.random().toString(36).slice(2)}`);
  const { child: _, ...raw } = sandbox.start([program(name), ready], { detached: true });
  await until(`${name} to be ready`, () => existsSync(ready));
  return rawProcess(raw.pid) ?? raw;
};

/** Starts it in a session of its own and lets its starter end, as a leak would be found: below an orphan root. */
export const startOrphan = async (sandbox: Sandbox, argv: readonly string[]): Promise<RawProcess> => {
  const pidFile = sandbox.path(`orphan-${Math.random().toString(36).slice(2)}`);
  const starter = sandbox.start([
    'sh',
    '-c',
    'setsid "$@" & echo $! > "$0.new"; mv "$0.new" "$0"',
    pidFile,
    ...argv,
  ]);
  const pid = Number(
    await until('the orphan to start', () => existsSync(pidFile) && readFileSync(pidFile, 'utf8')),
  );
  await until('its starter to end', () => starter.child.exitCode !== null);
  return until('the orphan to lead its session', () => {
    const raw = rawProcess(pid);
    return raw !== null && raw.sid === pid && raw.comm !== 'setsid' ? raw : undefined;
  });
};

/** One pass over /proc, however large the tree. */
export const descendantsOf = (pid: number): RawProcess[] => {
  const all = allPids()
    .map(rawProcess)
    .filter(p => p !== null);
  const family = new Set([pid]);
  for (let size = 0; size !== family.size; ) {
    size = family.size;
    for (const p of all) if (family.has(p.ppid)) family.add(p.pid);
  }
  return all.filter(p => p.pid !== pid && family.has(p.pid));
};

export const kinds = (outcomes: readonly { readonly outcome: OutcomeKind }[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { outcome } of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
};

export const realSystem = (): System => procfsSystem();
