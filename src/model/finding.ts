import { type Identity, keyOf } from './identity.ts';

export const SEVERITIES = ['info', 'warn', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

export const atLeast = (severity: Severity, floor: Severity): boolean =>
  SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(floor);

export const FINDING_IDS = [
  'leak',
  'zombie',
  'duplicate-server',
  'over-memory',
  'memory-growth',
  'too-many-agents',
  'idle-agent',
  'concurrent-builds',
  'heartbeat-stale',
  'heartbeat-missing',
  'marker-age',
  'loop-guard',
  'lock-stale',
  'agent-finished-session-alive',
  'agent-dead-registry-active',
  'leftover-files',
  'call-hung',
  'session-hung',
  'stopped',
  'stuck-io',
  'spinning',
] as const;
export type FindingId = (typeof FINDING_IDS)[number];

/** What a face of the product can offer to do about a finding. */
export type FindingAction =
  | 'clean'
  | 'zombies'
  | 'end'
  | 'continue'
  | 'sweep'
  | 'remove-file'
  /** End the server that a call waits for, or interrupt the call in the agent's own pane. */
  | 'free-call'
  /** End an idle session, and keep the way back. */
  | 'sleep'
  | 'stop-session';

/** One thing wrong: how bad, the evidence, what it concerns, and what would mend it. */
export interface Finding {
  readonly id: FindingId;
  readonly severity: Severity;
  readonly title: string;
  readonly why: string;
  readonly processes: readonly Identity[];
  readonly files: readonly string[];
  readonly remedy: string;
  readonly action: FindingAction | null;
}

/**
 * What a finding is about, whoever looks: the same one a look later, though a member of it came or went, its words
 * count other seconds, or it became worse.
 */
export const aboutOf = ({
  id,
  processes,
  files,
  title,
}: Pick<Finding, 'processes' | 'files' | 'title'> & { readonly id: string }): readonly string[] => {
  // An agent may wait for two servers at once: what each call waits for tells one finding from the other.
  const about = [...(id === 'call-hung' ? processes.slice(0, 1) : processes).map(keyOf), ...files];
  return about.length > 0 ? about : [title];
};

/** The finding among these that is still the same; undefined: it is no longer so. */
export const sameFinding = (finding: Finding, among: readonly Finding[]): Finding | undefined => {
  const about = new Set(aboutOf(finding));
  return among.find(other => other.id === finding.id && aboutOf(other).some(key => about.has(key)));
};
