import type { Identity } from './identity.ts';
import { shellLine, shellPath } from './shell.ts';

/** Where a session was, and how it comes back. */
export interface WayBack extends Identity {
  /** The family of its agent. */
  readonly agent: string;
  readonly id: string;
  readonly project: string | null;
  readonly name: string | null;
  readonly cwd: string;
  readonly tmux: {
    readonly socket: string;
    readonly session: string;
    readonly pane: string;
    /** The number of a pane means something to this server alone. */
    readonly server: number | null;
  } | null;
  /** What it and its servers held. */
  readonly bytes: number;
  /** Run in `cwd`. */
  readonly resume: string;
  /** The boot that its pid belongs to; null: not known. */
  readonly boot: string | null;
  /** The directory in which its agent registered it while it ran; null: it does not, or that is not known. */
  readonly registry: string | null;
}

/** `running`: seen, and remembered in case it is lost. `asleep`: ended with its way back kept. `lost`: it died otherwise. */
export const REMEMBERED = ['running', 'asleep', 'lost'] as const;
export type RememberedState = (typeof REMEMBERED)[number];

export interface RememberedSession extends WayBack {
  readonly state: RememberedState;
  /** Since when; epoch milliseconds. */
  readonly at: number;
  /** How it was lost. */
  readonly why?: string | undefined;
}

/** Names a session, whichever process has it. */
export const sessionKey = ({ agent, id }: Pick<WayBack, 'agent' | 'id'>): string => `${agent} ${id}`;

/** What is typed in a shell that is elsewhere. */
export const resumeFromAnywhere = ({ cwd, resume }: Pick<WayBack, 'cwd' | 'resume'>): string =>
  `cd ${shellPath(cwd)} && ${resume}`;

/** The command of a way back; a variable in front says where its sessions are kept. */
export const resumeLine = (words: readonly string[], home: readonly [name: string, path: string] | null) =>
  home === null ? shellLine(words) : `${home[0]}=${shellPath(home[1])} ${shellLine(words)}`;

/** `proofs “fix the lemma”`, else its directory. */
export const wayBackName = ({ project, name, cwd }: Pick<WayBack, 'project' | 'name' | 'cwd'>): string =>
  [project ?? cwd, name === null || name === project ? '' : `“${name}”`].filter(Boolean).join(' ');
