import type { Kind } from '../../model/kind.ts';
import type { Self } from '../../model/observation.ts';
import { LAUNCHD_JOB } from '../../model/process.ts';
import type { Node } from './tree.ts';

const SERVERS: ReadonlySet<Kind> = new Set(['mcp', 'lean-lsp', 'wrapper']);

/** `/…/foo.service` as the last unit of a cgroup path; login sessions and user managers are scopes or `user@`. */
const unitOf = (cgroup: string): string | null => {
  const last = cgroup.split('/').findLast(part => /\.(service|scope)$/.test(part));
  return last === undefined || !last.endsWith('.service') || /^user@\d+\.service$/.test(last) ? null : last;
};

/** Scopes that a login, a terminal or a desktop puts everything into that is started in it. */
const SHARED_SCOPE = /^(?:session-\w+|init|vte-spawn-.+|tmux-spawn-.+|app-.+)\.scope$/;

/** The scope made for this process alone (`systemd-run --scope`); null: none, or not known. */
export const ownScopeOf = ({ facts }: Node, self: Self | null): string | null => {
  const last = facts.details?.cgroup?.split('/').findLast(part => part.endsWith('.scope'));
  if (last === undefined || SHARED_SCOPE.test(last)) return null;
  return self?.cgroup?.split('/').includes(last) === true ? null : last;
};

const CONTAINER = /(?:^|[/-])(?:docker|containerd|libpod|lxc|kubepods|crio)[/.:-]|\/docker\/[0-9a-f]{12,}/;

/** What still writes to a task of Claude's Bash tool has detached itself from nothing, whatever its flags say. */
const isInForeground = ({ facts }: Node): boolean =>
  /\/tasks\/[\w-]+\.output$/.test(facts.details?.output ?? '');

/** A server or unit that is meant to outlive what started it; what runs below it is live. */
export const serviceReason = (node: Node, self: Self | null): string | null => {
  const { seen, facts } = node;
  const cgroup = facts.details?.cgroup ?? '';
  if (seen.role === 'declared-daemon' && !isInForeground(node)) return 'a daemon by its own declaration';
  if (seen.transport === 'http' && SERVERS.has(node.kind))
    return 'a server that several sessions can share (HTTP or SSE)';
  const listening = facts.details?.listening ?? null;
  if (listening !== null && listening.clients > 0) {
    return `listens on port ${listening.ports.join(', ')} with ${listening.clients} connected`;
  }
  const client = facts.details?.uses?.find(({ how }) => how === 'unix-client');
  if (client !== undefined) return `has a client at ${client.what}`;
  if (cgroup.startsWith(LAUNCHD_JOB)) return `managed by launchd (${cgroup.slice(LAUNCHD_JOB.length)})`;
  const unit = unitOf(cgroup);
  if (unit !== null && unit !== unitOf(self?.cgroup ?? '')) return `managed by ${unit}`;
  if (CONTAINER.test(cgroup) && cgroup !== self?.cgroup) return 'runs in a container';
  return null;
};
