import type { AnchorKind, Kind, Role } from '../model/kind.ts';
import type { EnvName } from '../model/process.ts';

/** A question about the arguments that follow a program; every field that is given must hold. */
export interface ArgumentTest {
  /** The arguments literally begin with one of these sequences. */
  readonly start?: readonly (readonly string[])[];
  /** The first argument that is neither a flag nor the value of one. */
  readonly command?: readonly string[];
  /** One of these flags stands before `--`, alone or as `flag=value`. */
  readonly flag?: readonly string[];
  /** Some argument ends so. */
  readonly ending?: readonly string[];
  /** Some argument contains this text; only for paths that identify their owner. */
  readonly holding?: readonly string[];
  /** There is no argument at all. */
  readonly bare?: true;
}

/** What a family's process is when its arguments say something more specific. */
export interface Form {
  readonly when: ArgumentTest;
  readonly kind?: Kind;
  readonly family?: string;
  readonly name?: string;
  readonly role?: Role | null;
  readonly anchor?: AnchorKind | null;
  readonly adoptsOrphans?: boolean;
  readonly transport?: 'stdio' | 'http';
}

/** Where a single token's path alone identifies a program. */
export interface PathShape {
  /** Directories that must follow one another in the path, `claude/versions`. */
  readonly under: string;
  /** The file lies directly in `under`. */
  readonly direct?: true;
  /** The file is one of these; any when absent. */
  readonly file?: readonly string[];
}

/** How a wrapper names what it runs. */
export interface Carry {
  /** `package`: a name with an optional version, fetched by a package runner; `script`: a file for an interpreter. */
  readonly names: 'program' | 'package' | 'script' | 'nothing';
  /** Leading words that still belong to the wrapper (`uv tool uvx`). */
  readonly commands?: readonly string[];
  /** Flags that take the following word as their value. */
  readonly valueFlags?: readonly string[];
  /** Flags whose value names the package when the program inside says nothing. */
  readonly packageFlags?: readonly string[];
  /** Flags whose value is a command as text, `-c`. */
  readonly textFlags?: readonly string[];
  /** Flags whose value is a Python module. */
  readonly moduleFlags?: readonly string[];
  /** `NAME=value` words before the command. */
  readonly assignments?: true;
  /** Words of its own before the command: `timeout 5`. */
  readonly skip?: number;
  /** The command is whatever follows `--`. */
  readonly afterDashes?: true;
}

/** One family of programs: how to know it, and what it then is. */
export interface Family {
  readonly id: string;
  readonly kind: Kind;
  /** Display name; the matched word itself when absent. */
  readonly name?: string;
  /** Family name of an agent. */
  readonly agent?: string;
  /** Basenames of an executable, argv[0] or script, after `.exe`, `.cmd`, `.orig` and Nix's `.x-wrapped` are taken off. */
  readonly programs?: readonly string[];
  /** Whole tokens, path included, for names too common to match by basename. */
  readonly tokens?: readonly string[];
  /** Names in a package registry: inside `node_modules/`, after `npx` or `uvx`. */
  readonly packages?: readonly string[];
  /** Modules of `python -m`. */
  readonly modules?: readonly string[];
  readonly paths?: readonly PathShape[];
  /** Kernel names that decide by themselves; one that ends in `(` is a prefix. */
  readonly comms?: readonly string[];
  /** At least one must hold, else the name is a coincidence. */
  readonly only?: readonly ArgumentTest[];
  /** None may hold. */
  readonly never?: readonly ArgumentTest[];
  /** A zombie keeps nothing but its name: this one may then do without `only`. */
  readonly nameSuffices?: true;
  /** Directories that prove the name is no coincidence, whatever the arguments. */
  readonly home?: readonly string[];
  /** The first that holds refines the answer. */
  readonly forms?: readonly Form[];
  /** Flags that take a value, so that `command` finds the right word. */
  readonly valueFlags?: readonly string[];
  /** Flags whose value may be a session id. */
  readonly sessionFlags?: readonly string[];
  /** `flag`: the session is a fork of the one that the flags `from` name. */
  readonly forks?: { readonly flag: string; readonly from: readonly string[] };
  /** Run by an interpreter it only starts the native program and waits. */
  readonly launcherWhenInterpreted?: true;
  readonly role?: Role;
  readonly anchor?: AnchorKind;
  readonly adoptsOrphans?: true;
  /** What its transport is, whatever its flags say. */
  readonly transport?: 'stdio' | 'http';
  readonly carries?: Carry;
}

/** A program that runs another program's text. */
export interface Interpreter {
  readonly id: string;
  readonly programs: readonly string[];
  readonly valueFlags?: readonly string[];
  /** The program is the text that follows: there is no script. */
  readonly evalFlags?: readonly string[];
  readonly moduleFlags?: readonly string[];
  /** The following word is the script. */
  readonly scriptFlags?: readonly string[];
  /** Words before the script: `bun run x.ts`. */
  readonly commands?: readonly string[];
}

/** Names as one readable text: `list('sh bash zsh')`. */
export const list = (names: string): readonly string[] => names.trim().split(/\s+/);

/** What a family of agents leaves behind by which a process's owner is found. */
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
  /** A process that several sessions share: it outlives what started it, and is ended by its own command. */
  readonly daemon: { readonly role: Role; readonly what: string; readonly stop: string } | null;
}
