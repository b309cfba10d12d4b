import type { Config } from '../model/config.ts';
import type { Finding, FindingId } from '../model/finding.ts';
import { type IdentityKey, keyOf } from '../model/identity.ts';
import type { JudgedProcess, Snapshot } from '../model/snapshot.ts';

/** Findings about agents that the config may let guard act on, after a warning. */
export type WarnedFinding = Extract<FindingId, 'over-memory' | 'idle-agent'>;

/** Those that the config lets guard act on. */
export const warnedBy = ({ overMemory, idleAgents }: Config['policy']): readonly WarnedFinding[] => [
  ...(overMemory ? (['over-memory'] as const) : []),
  ...(idleAgents ? (['idle-agent'] as const) : []),
];

export interface Warning {
  readonly id: WarnedFinding;
  readonly agent: JudgedProcess;
  readonly title: string;
}

/** Since when each agent has been warned without a look in which the finding was gone. */
export class Warned {
  #since: ReadonlyMap<string, number> = new Map();

  /** Takes the findings of a look; returns who is warned for the first time. */
  note(snapshot: Snapshot, ids: readonly WarnedFinding[], at: number): readonly Warning[] {
    const before = this.#since;
    const now = warningsIn(snapshot, ids);
    this.#since = new Map(now.map(warning => [nameOf(warning), before.get(nameOf(warning)) ?? at]));
    return now.filter(warning => !before.has(nameOf(warning)));
  }

  /** Agents whose warning is that old, and still true. */
  due(snapshot: Snapshot, ids: readonly WarnedFinding[], seconds: number, at: number): readonly Warning[] {
    return warningsIn(snapshot, ids).filter(warning => {
      const since = this.#since.get(nameOf(warning));
      return since !== undefined && at - since >= seconds;
    });
  }

  forget(): void {
    this.#since = new Map();
  }
}

const nameOf = ({ id, agent }: Warning): string => `${id} ${keyOf(agent.facts)}`;

/** Only of agents: what else is large or idle is somebody's work. */
const warningsIn = (snapshot: Snapshot, ids: readonly WarnedFinding[]): readonly Warning[] => {
  const agents = new Map<IdentityKey, JudgedProcess>(
    snapshot.processes.filter(p => p.isSession).map(p => [keyOf(p.facts), p]),
  );
  return snapshot.findings.flatMap((finding: Finding) => {
    const id = ids.find(one => one === finding.id);
    const agent = finding.processes.map(identity => agents.get(keyOf(identity))).find(p => p !== undefined);
    return id === undefined || agent === undefined ? [] : [{ id, agent, title: finding.title }];
  });
};
