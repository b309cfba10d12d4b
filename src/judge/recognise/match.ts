import { FAMILIES } from '../../agents/families.ts';
import type { Family, Interpreter } from '../../agents/family-type.ts';
import { READERS } from '../../agents/mcp.ts';
import { INTERPRETERS, SHELLS } from '../../agents/wrappers.ts';
import { holds } from './arguments.ts';
import { baseOf, packageName, packageOfPath, programName, withoutExtension } from './argv.ts';
import type { Layer, Standing } from './layers.ts';

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

const BY_PROGRAM = index(FAMILIES, family => family.programs);
const BY_TOKEN = index(FAMILIES, family => family.tokens);
const BY_PACKAGE = index(FAMILIES, family => family.packages);
const BY_MODULE = index(FAMILIES, family => family.modules);
export const BY_COMM = index(FAMILIES, family => family.comms);

/** The kernel keeps fifteen characters of a name; of a zombie nothing else is left. */
const COMM_LENGTH = 15;
const BY_CUT_NAME = index(FAMILIES, family =>
  family.programs?.filter(name => name.length > COMM_LENGTH).map(name => name.slice(0, COMM_LENGTH)),
);

export interface PathRule {
  readonly family: Family;
  readonly needle: string;
  readonly direct: boolean;
  readonly files: ReadonlySet<string> | null;
}

const PATH_RULES: readonly PathRule[] = FAMILIES.flatMap(family =>
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

/** What the matcher needs of a process beyond one layer of its argv. */
export interface MatchContext {
  readonly exe: string | null;
  /** Only the kernel's name is known: arguments cannot be asked for. */
  readonly nameOnly: boolean;
}

const NOWHERE: MatchContext = { exe: null, nameOnly: false };

const accepts = (family: Family, layer: Layer, around: MatchContext): boolean => {
  const { words, from } = layer;
  if (family.never?.some(test => holds(test, words, from, family.valueFlags))) return false;
  if (!family.only) return true;
  if (around.nameOnly) return family.nameSuffices === true;
  if (family.home?.some(dir => layer.token.includes(dir) || around.exe?.includes(dir))) return true;
  return family.only.some(test => holds(test, words, from, family.valueFlags));
};

type Candidates = readonly Family[] | undefined;

const pick = (candidates: Candidates, layer: Layer, around: MatchContext): Family | null =>
  candidates?.find(family => accepts(family, layer, around)) ?? null;

const byPath = (layer: Layer, around: MatchContext): Family | null => {
  const { token } = layer;
  const slash = token.lastIndexOf('/');
  if (slash < 0) return null;
  for (const rule of PATH_RULES) {
    const found = token.indexOf(rule.needle);
    if (found < 0 || (found > 0 && token[found - 1] !== '/')) continue;
    if (rule.direct && found + rule.needle.length !== slash + 1) continue;
    if (rule.files && !rule.files.has(token.slice(slash + 1))) continue;
    if (accepts(rule.family, layer, around)) return rule.family;
  }
  return null;
};

const byProgram = (layer: Layer, around: MatchContext): Family | null =>
  pick(BY_TOKEN.get(layer.token), layer, around) ??
  pick(BY_PROGRAM.get(programName(layer.token)), layer, around) ??
  (around.nameOnly ? pick(BY_CUT_NAME.get(layer.token), layer, around) : null);

/** A package whose entry files are listed by path also holds helpers (claude's own ripgrep): those are not it. */
const byOwner = (layer: Layer, around: MatchContext): Family | null => {
  const owner = packageOfPath(layer.token);
  return owner === null
    ? null
    : pick(
        BY_PACKAGE.get(owner)?.filter(family => !family.paths),
        layer,
        around,
      );
};

const fetched = (layer: Layer): Layer => ({ ...layer, token: packageName(layer.token) });

/** Which family a token belongs to by its name, depending on what it stands for. */
const LOOK_UP = {
  program: byProgram,
  script: (layer, around) => byProgram(layer, around) ?? byPath(layer, around) ?? byOwner(layer, around),
  package: (layer, around) =>
    pick(BY_PACKAGE.get(packageName(layer.token)), layer, around) ?? byProgram(fetched(layer), around),
  module: (layer, around) =>
    pick(BY_MODULE.get(layer.token) ?? BY_MODULE.get(layer.token.split('.', 1)[0] ?? ''), layer, around),
} satisfies Record<Standing, (layer: Layer, around: MatchContext) => Family | null>;

export const matchFamily = (layer: Layer, around: MatchContext = NOWHERE): Family | null =>
  LOOK_UP[layer.as](layer, around);

/** Where a program lies; asked last, because an interpreter's place says little about what it runs. */
export const familyOfPlace = (layer: Layer, around: MatchContext): Family | null =>
  layer.as === 'program' ? byPath(layer, around) : null;

/** The names under which a token may stand in a server's configuration. */
export const configuredNames = ({ token, as }: Layer): readonly string[] => {
  if (as === 'module') return [`-m ${token}`];
  if (as === 'package') return namesOfPackage(packageName(token));
  const base = baseOf(token);
  if (as === 'program') return [base];
  const owner = packageOfPath(token);
  if (owner !== null) return [token, ...namesOfPackage(owner)];
  return withoutExtension(base) === base ? [token, base] : [token];
};

const namesOfPackage = (name: string): readonly string[] => {
  const own = baseOf(name);
  const reference = name.startsWith('@modelcontextprotocol/server-') || own.startsWith('mcp-server-');
  // The reference servers are packaged as `server-x` and installed as `mcp-server-x`.
  return reference ? [name, own, `mcp-${own}`, own.replace(/^mcp-/, '')] : [name, own];
};
