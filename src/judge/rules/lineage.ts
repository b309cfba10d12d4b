import { EVIDENCE, isSessionless } from '../../agents/families.ts';
import { type IdentityKey, keyOf } from '../../model/identity.ts';
import { SHOWN_ID } from './environment-marks.ts';
import { agentAbove, carrierOf, isRunningAgent, type Node, nodeWithKey, type Tree } from './tree.ts';

/** What the ledger remembers of an identity once seen below an agent. */
export interface LineageEntry {
  /** The agent it was seen below. */
  readonly owner: IdentityKey;
  readonly sessionId: string | null;
  /** The agent's family: `claude`, `codex`… Absent or null: not known. */
  readonly family?: string | null;
  /** The last part of the agent's directory. */
  readonly project?: string | null;
  /** Its parent when first seen: how reparented members of a subtree are found again. */
  readonly parent: IdentityKey | null;
}

/** `claude -p` says sdk-cli, and has whatever shell it was typed in for a parent. */
const HOSTED = /^sdk-(?!cli\b)/;

/** The program that runs an agent through its SDK. */
const hostOf = (node: Node): Node | null => {
  if (!isRunningAgent(node) || !HOSTED.test(node.facts.env?.CLAUDE_CODE_ENTRYPOINT ?? '')) return null;
  const host = carrierOf(node);
  const isProgram = host?.kind === 'other' && host.seen.anchor === null && !host.seen.adoptsOrphans;
  return isProgram && host.facts.pid > 1 && !host.facts.unreadable ? host : null;
};

/** Its agent had not written its session down yet, or was not readable, when it was first seen. */
const lacksNames = ({ sessionId, family, project }: LineageEntry): boolean =>
  sessionId === null || family == null || project == null;

/** `Claude session 667f5246 in proofs (pid 669)`: the agent that it was seen below, by all that is known of it. */
export const agentName = ({ owner, sessionId, family, project }: LineageEntry): string => {
  const pid = Number.parseInt(owner, 10);
  const where = project == null ? '' : ` in ${project}`;
  if (sessionId !== null)
    return `${familyTitle(family ?? null)}session ${sessionId.slice(0, SHOWN_ID)}${where} (pid ${pid})`;
  return family == null ? `process ${pid}` : `${family}${where} (pid ${pid})`;
};

const familyTitle = (family: string | null): string => {
  const title = EVIDENCE.find(({ agent }) => agent === family)?.title ?? family;
  return title === null ? '' : `${title} `;
};

/**
 * The ledger of every identity ever seen below an agent. It outlives the agent, so that a `java`
 * or `yes` that was reparented afterwards is still attributed. Ended identities are dropped.
 */
export class Lineage {
  readonly #entries = new Map<IdentityKey, LineageEntry>();

  entryOf(key: IdentityKey): LineageEntry | undefined {
    return this.#entries.get(key);
  }

  entries(): ReadonlyMap<IdentityKey, LineageEntry> {
    return this.#entries;
  }

  /** Takes entries recorded elsewhere (guard's file). What is already known here wins. */
  adopt(entries: Iterable<readonly [IdentityKey, LineageEntry]>): void {
    for (const [key, entry] of entries) if (!this.#entries.has(key)) this.#entries.set(key, entry);
  }

  /** Adds what this tree shows, forgets what has ended. */
  record(tree: Tree, sessionIdOf: (agent: Node) => string | null): void {
    for (const node of tree.nodes) {
      const agent = agentAbove(node);
      if (node.facts.unreadable) continue;
      if (agent === null) {
        const host = hostOf(node);
        if (host !== null) this.#hostedBy(node, host);
        continue;
      }
      // What hangs below a shared daemon belongs to one of its sessions, and which one is unknown.
      if (isSessionless(agent.seen.role) && sessionIdOf(agent) === null) continue;
      const key = keyOf(node.facts);
      const known = this.#entries.get(key);
      const owner = keyOf(agent.facts);
      if (known?.owner === owner && !lacksNames(known)) continue;
      const cwd = agent.facts.details?.cwd ?? null;
      this.#entries.set(key, {
        owner,
        sessionId: sessionIdOf(agent) ?? (known?.owner === owner ? known.sessionId : null),
        family: agent.agent,
        project: cwd === null ? null : cwd.slice(cwd.lastIndexOf('/') + 1) || cwd,
        parent: known?.parent ?? (node.parent === null ? null : keyOf(node.parent.facts)),
      });
    }
    this.#forgetEnded(tree);
  }

  /** A session that a program runs is that program's, as what a session runs is the session's. */
  #hostedBy(node: Node, host: Node): void {
    const owner = keyOf(host.facts);
    this.#entries.set(keyOf(node.facts), { owner, sessionId: null, parent: owner });
  }

  /** An ended identity stays only while a living one descends from it: it is a link of the chain. */
  #forgetEnded(tree: Tree): void {
    const needed = new Set<IdentityKey>();
    for (const key of this.#entries.keys()) {
      if (nodeWithKey(tree, key) === null) continue;
      for (
        let up: IdentityKey | null = key;
        up !== null && !needed.has(up);
        up = this.#entries.get(up)?.parent ?? null
      ) {
        needed.add(up);
      }
    }
    for (const key of this.#entries.keys()) if (!needed.has(key)) this.#entries.delete(key);
  }

  /** Living identities that were once below `root` and may since have been reparented. */
  membersOf(root: IdentityKey): IdentityKey[] {
    const members: IdentityKey[] = [];
    for (const [key, entry] of this.#entries) {
      if (key !== root && (entry.owner === root || this.#descends(entry, root))) members.push(key);
    }
    return members;
  }

  #descends({ parent }: LineageEntry, root: IdentityKey): boolean {
    const seen = new Set<IdentityKey>();
    for (let up = parent; up !== null && !seen.has(up); up = this.#entries.get(up)?.parent ?? null) {
      if (up === root) return true;
      seen.add(up);
    }
    return false;
  }
}
