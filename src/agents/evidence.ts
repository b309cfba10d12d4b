import type { Role } from '../model/kind.ts';
import type { EnvName } from '../model/process.ts';

/** What a family of agents leaves behind that tells whose a process is. */
export interface Evidence {
  /** The family, as `Family.agent` calls it. */
  readonly agent: string;
  /** How a sentence calls it: `Claude session 9c33ca78`. */
  readonly title: string;
  /** Variables that a session hands to all that it starts, secrets excepted. */
  readonly marks: readonly EnvName[];
  /** The mark that names the owner's pid. */
  readonly ownerPid: EnvName | null;
  /** The marks that hold the id of its session, best first. */
  readonly sessionIds: readonly EnvName[];
  /** The mark that names the socket its session listens on, which stays the same when `/clear` changes the id. */
  readonly socket: EnvName | null;
  /** Every session of the family lists itself in a file of its own. */
  readonly registers: boolean;
  /** One process serves several threads or subagents, each with servers of its own. */
  readonly threads: boolean;
  /** A process that several sessions share: it outlives whoever started it, and is ended by its own command. */
  readonly daemon: { readonly role: Role; readonly what: string; readonly stop: string } | null;
}
