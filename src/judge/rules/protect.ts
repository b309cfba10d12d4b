import { EVIDENCE } from '../../agents/index.ts';
import type { Config } from '../../model/config.ts';
import { starMatcher } from '../../model/glob.ts';
import type { Role } from '../../model/kind.ts';
import { belonging } from '../../model/process.ts';
import { servingPort } from './carries.ts';
import { serviceReason } from './outliving.ts';
import type { Ownership } from './ownership.ts';
import { calls, carrierOf, type Node } from './tree.ts';
import type { World } from './world.ts';

type Reason = string | null;

/** Roles nobody may end, and what to do instead. */
const PROTECTED_ROLES: Readonly<Partial<Record<Role, string>>> = {
  ...Object.fromEntries(
    EVIDENCE.flatMap(({ daemon }) =>
      daemon === null ? [] : [[daemon.role, `${daemon.what}: use \`${daemon.stop}\``]],
    ),
  ),
  'tmux-server': 'a tmux server: ending it ends every session in it',
  'wsl-plumbing': 'part of WSL itself: ending it destroys the distribution',
};

const BACKGROUND_KINDS: ReadonlySet<string> = new Set(['bg', 'daemon', 'daemon-worker']);

/** Why nobody may end this process, not even on request; null when somebody may. */
export const hardReason = (node: Node, world: World): Reason => {
  const { facts, seen } = node;
  const { self } = world.observation;
  if (facts.pid <= 2) return 'one of the first two processes of the system';
  if (facts.kernelThread) return 'a kernel thread';
  if (self !== null) {
    if (facts.pid === self.pid) return 'reaptop itself';
    if (world.ownAncestors.has(node)) return 'an ancestor of reaptop';
    if (self.pgid !== null && facts.pgid === self.pgid) return "in reaptop's own process group";
    const owner = belonging(facts, self.uid);
    if (typeof owner === 'number') return `belongs to another user (uid ${owner})`;
  }
  const role = seen.role === null ? undefined : PROTECTED_ROLES[seen.role];
  // A spare that was claimed is a session, to be stopped by its job.
  if (role !== undefined && !world.isSession(node)) return role;
  return backgroundReason(node, world) ?? configReason(node, world.config);
};

/** `~/.claude/jobs/1a2b3c4d`: where the supervisor keeps a background session's job. */
const jobOf = (directory: string | undefined): string | null =>
  /\/jobs\/([\w-]+)$/.exec(directory ?? '')?.[1] ?? null;

/** By its own words, by its file, as a claimed spare, or because the supervisor's host runs it. */
const isBackground = (node: Node, world: World): boolean =>
  node.seen.role === 'background-session' ||
  (node.seen.role === 'claude-daemon' && world.isSession(node)) ||
  BACKGROUND_KINDS.has(world.sessionOf(node)?.kind ?? '') ||
  (node.kind === 'agent' && carrierOf(node)?.seen.role === 'claude-daemon');

/** What `claude stop` takes, of a background session; null: it is none, or its job is not known. */
export const backgroundJob = (node: Node, world: World): string | null => {
  if (!isBackground(node, world)) return null;
  const session = world.sessionOf(node);
  return session?.jobId ?? jobOf(node.facts.env?.CLAUDE_JOB_DIR) ?? session?.sessionId ?? null;
};

const backgroundReason = (node: Node, world: World): Reason =>
  isBackground(node, world)
    ? `a background session: its supervisor would restart it; use \`claude stop ${backgroundJob(node, world) ?? 'ID'}\``
    : null;

type Matcher = ReturnType<typeof starMatcher>;
const compiled = new WeakMap<readonly string[], readonly Matcher[]>();

const patternsOf = (globs: readonly string[]): readonly Matcher[] => {
  const known = compiled.get(globs) ?? globs.map(starMatcher);
  compiled.set(globs, known);
  return known;
};

const configReason = (node: Node, config: Config): Reason => {
  if (config.protect.length === 0) return null;
  const words = [node.seen.name, node.facts.comm, ...(node.facts.argv ?? [])];
  const names = words.flatMap(word => [word, word.slice(word.lastIndexOf('/') + 1)]);
  const index = patternsOf(config.protect).findIndex(pattern => names.some(pattern));
  return index < 0 ? null : `protected by the config (${config.protect[index]})`;
};

const HOSTS: Readonly<Record<string, string>> = {
  editor: 'hosted by an editor',
  'desktop-app': 'hosted by a desktop app',
};

/** How SDK-hosted and desktop-hosted Claude sessions announce themselves. */
const HOSTED_ENTRYPOINT = /^(sdk-|claude-desktop|claude-vscode)/;

const hostReason = (node: Node, world: World): Reason => {
  if (node.kind !== 'agent') return null;
  const climb = world.climb(node);
  if (climb.end === 'anchor' && HOSTS[climb.anchor] !== undefined)
    return `${HOSTS[climb.anchor]}: ${climb.at}`;
  if (!HOSTED_ENTRYPOINT.test(node.facts.env?.CLAUDE_CODE_ENTRYPOINT ?? '')) return null;
  const host =
    climb.end === 'stranger'
      ? climb.at
      : climb.end === 'pane' || climb.end === 'anchor'
        ? climb.through
        : null;
  return host === null ? null : `hosted by ${calls(host)}`;
};

/** Who owns a process, as far as anything says so. */
type OwnershipOf = (node: Node) => Ownership | null;

/** Whoever started it as a server for the network has left no trace, and its clients come and go. */
const sharedReason = (node: Node, ownershipOf: OwnershipOf): Reason => {
  const port = servingPort(node);
  if (port === null) return null;
  const fate = ownershipOf(node)?.fate ?? 'undecided';
  return fate === 'undecided' ? `an MCP server on port ${port} that no agent is known to have started` : null;
};

/** Why only the user in person, typing its pid, may end this process. */
export const softReason = (node: Node, world: World, ownershipOf: OwnershipOf): Reason => {
  const own =
    node.facts.spared ??
    serviceReason(node, world.observation.self) ??
    hostReason(node, world) ??
    sharedReason(node, ownershipOf);
  if (own !== null) return own;
  // A wrapper around a shared server goes the way its server goes.
  if (node.kind !== 'wrapper') return null;
  for (const child of node.children) {
    const reason = softReason(child, world, ownershipOf);
    if (reason !== null) return `carries ${calls(child)}: ${reason}`;
  }
  return null;
};
