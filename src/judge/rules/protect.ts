import { hostApp } from '../../agents/claude.ts';
import { EVIDENCE } from '../../agents/families.ts';
import type { Config } from '../../model/config.ts';
import { fromBelow } from '../../model/forest.ts';
import { starMatcher } from '../../model/glob.ts';
import type { Role } from '../../model/kind.ts';
import { userRelation } from '../../model/process.ts';
import { serviceReason } from './declared-services.ts';
import { servingPort } from './effective-kind.ts';
import type { OwnerEvidence } from './owner-evidence.ts';
import { carrierOf, type Node, nodeLabel } from './tree.ts';
import type { VerdictContext } from './verdict-context.ts';

type Reason = string | null;

/** Roles that are never ended, and what to do instead. */
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

/** Why this process is never ended, not even on request; null when it may be. */
export const hardReason = (node: Node, context: VerdictContext): Reason => {
  const { facts, seen } = node;
  const { self } = context.observation;
  if (facts.pid <= 2) return 'one of the first two processes of the system';
  if (facts.kernelThread) return 'a kernel thread';
  if (self !== null) {
    if (facts.pid === self.pid) return 'reaptop itself';
    if (context.ownAncestors.has(node)) return 'an ancestor of reaptop';
    if (self.pgid !== null && facts.pgid === self.pgid) return "in reaptop's own process group";
    const owner = userRelation(facts, self.uid);
    if (typeof owner === 'number') return `belongs to another user (uid ${owner})`;
  }
  const role = seen.role === null ? undefined : PROTECTED_ROLES[seen.role];
  // A spare that was claimed is a session, to be stopped by its job.
  if (role !== undefined && !context.isSession(node)) return role;
  return backgroundReason(node, context) ?? configReason(node, context.config);
};

/** `~/.claude/jobs/1a2b3c4d`: where the supervisor keeps a background session's job. */
const jobOf = (directory: string | undefined): string | null =>
  /\/jobs\/([\w-]+)$/.exec(directory ?? '')?.[1] ?? null;

/** By its own words, by its file, as a claimed spare, or because the supervisor's host runs it. */
const isBackground = (node: Node, context: VerdictContext): boolean =>
  node.seen.role === 'background-session' ||
  (node.seen.role === 'claude-daemon' && context.isSession(node)) ||
  BACKGROUND_KINDS.has(context.sessionOf(node)?.kind ?? '') ||
  (node.kind === 'agent' && carrierOf(node)?.seen.role === 'claude-daemon');

/** What `claude stop` takes, of a background session; null: it is none, or its job is not known. */
export const backgroundJob = (node: Node, context: VerdictContext): string | null => {
  if (!isBackground(node, context)) return null;
  const session = context.sessionOf(node);
  return session?.jobId ?? jobOf(node.facts.env?.CLAUDE_JOB_DIR) ?? session?.sessionId ?? null;
};

const backgroundReason = (node: Node, context: VerdictContext): Reason =>
  isBackground(node, context)
    ? `a background session: its supervisor would restart it; use \`claude stop ${backgroundJob(node, context) ?? 'ID'}\``
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

const HOSTS: ReadonlySet<string> = new Set(['editor', 'desktop-app']);

/** How SDK-hosted and desktop-hosted Claude sessions announce themselves. */
const HOSTED_ENTRYPOINT = /^(sdk-|claude-desktop|claude-vscode)/;

/** Why an agent is its host's business: an editor, a desktop app or a program runs it. */
export const hostReason = (node: Node, context: VerdictContext): Reason => {
  if (node.kind !== 'agent') return null;
  const climb = context.climb(node);
  const entrypoint = node.facts.env?.CLAUDE_CODE_ENTRYPOINT ?? '';
  const app = hostApp(node.facts.exe ?? node.facts.argv?.[0] ?? '', entrypoint);
  if (climb.end === 'anchor' && HOSTS.has(climb.anchor)) return `run by ${app ?? climb.at}`;
  if (!HOSTED_ENTRYPOINT.test(entrypoint)) return null;
  const host =
    climb.end === 'stranger'
      ? climb.at
      : climb.end === 'pane' || climb.end === 'anchor'
        ? climb.through
        : null;
  return host === null ? null : `run by ${app ?? nodeLabel(host)}`;
};

/** Who owns a process, as far as anything says so. */
type OwnershipOf = (node: Node) => OwnerEvidence | null;

/** A server for the network has no trace of what started it, and its clients come and go. */
const sharedReason = (node: Node, ownershipOf: OwnershipOf): Reason => {
  const port = servingPort(node);
  if (port === null) return null;
  const fate = ownershipOf(node)?.fate ?? 'undecided';
  return fate === 'undecided' ? `an MCP server on port ${port} that no agent is known to have started` : null;
};

interface SoftReason {
  readonly of: Node;
  readonly why: string;
}

/** Why only the user in person, typing its pid, may end a process; each is asked once. */
export const softReasons = (context: VerdictContext, ownershipOf: OwnershipOf): ((node: Node) => Reason) => {
  const found = fromBelow<Node, SoftReason | null>(
    (node, below) => {
      const own =
        serviceReason(node, context.observation.self) ??
        hostReason(node, context) ??
        sharedReason(node, ownershipOf);
      return own !== null ? { of: node, why: own } : (below.find(one => one !== null) ?? null);
    },
    // A wrapper around a shared server goes the way its server goes.
    ({ kind }) => kind === 'wrapper',
  );
  return node => {
    const reason = found(node);
    if (reason === null) return null;
    return reason.of === node ? reason.why : `carries ${nodeLabel(reason.of)}: ${reason.why}`;
  };
};
