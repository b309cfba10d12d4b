import {
  FAMILIES,
  type Family,
  INTERPRETERS,
  type Interpreter,
  READERS,
  SHELLS,
} from '../../agents/index.ts';

/** The tables of `agents/` turned into look-ups, once. */

const index = <T>(items: readonly T[], keysOf: (item: T) => readonly string[] | undefined) => {
  const found = new Map<string, T[]>();
  for (const item of items) {
    for (const key of keysOf(item) ?? []) {
      const same = found.get(key);
      if (same) same.push(item);
      else found.set(key, [item]);
    }
  }
  return found as ReadonlyMap<string, readonly T[]>;
};

export const BY_PROGRAM = index(FAMILIES, family => family.programs);
export const BY_TOKEN = index(FAMILIES, family => family.tokens);
export const BY_PACKAGE = index(FAMILIES, family => family.packages);
export const BY_MODULE = index(FAMILIES, family => family.modules);
export const BY_COMM = index(FAMILIES, family => family.comms);

/** The kernel keeps fifteen characters of a name; of a zombie nothing else is left. */
const COMM_LENGTH = 15;
export const BY_CUT_NAME = index(FAMILIES, family =>
  family.programs?.filter(name => name.length > COMM_LENGTH).map(name => name.slice(0, COMM_LENGTH)),
);

export interface PathRule {
  readonly family: Family;
  readonly needle: string;
  readonly direct: boolean;
  readonly files: ReadonlySet<string> | null;
}

export const PATH_RULES: readonly PathRule[] = FAMILIES.flatMap(family =>
  (family.paths ?? []).map(shape => ({
    family,
    needle: `${shape.under}/`,
    direct: shape.direct === true,
    files: shape.file ? new Set(shape.file) : null,
  })),
);

export const INTERPRETER_BY_PROGRAM: ReadonlyMap<string, Interpreter> = new Map(
  INTERPRETERS.flatMap(interpreter => interpreter.programs.map(name => [name, interpreter] as const)),
);

export const SHELL_PROGRAMS: ReadonlySet<string> = new Set(SHELLS.programs);
export const READER_PROGRAMS: ReadonlySet<string> = new Set(READERS);
