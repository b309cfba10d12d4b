import type { Family } from '../../agents/index.ts';
import { holds } from './arguments.ts';
import type { Layer, Standing } from './layers.ts';
import { BY_CUT_NAME, BY_MODULE, BY_PACKAGE, BY_PROGRAM, BY_TOKEN, PATH_RULES } from './tables.ts';
import { baseOf, packageName, packageOfPath, programName, withoutExtension } from './words.ts';

/** A process as the matcher needs it besides one layer of its words. */
export interface Surroundings {
  readonly exe: string | null;
  /** Only the kernel's name is known: arguments cannot be asked for. */
  readonly nameOnly: boolean;
}

const NOWHERE: Surroundings = { exe: null, nameOnly: false };

const accepts = (family: Family, layer: Layer, around: Surroundings): boolean => {
  const { words, from } = layer;
  if (family.never?.some(test => holds(test, words, from, family.valueFlags))) return false;
  if (!family.only) return true;
  if (around.nameOnly) return family.nameSuffices === true;
  if (family.home?.some(dir => layer.token.includes(dir) || around.exe?.includes(dir))) return true;
  return family.only.some(test => holds(test, words, from, family.valueFlags));
};

type Candidates = readonly Family[] | undefined;

const pick = (candidates: Candidates, layer: Layer, around: Surroundings): Family | null =>
  candidates?.find(family => accepts(family, layer, around)) ?? null;

const byPath = (layer: Layer, around: Surroundings): Family | null => {
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

const byProgram = (layer: Layer, around: Surroundings): Family | null =>
  pick(BY_TOKEN.get(layer.token), layer, around) ??
  pick(BY_PROGRAM.get(programName(layer.token)), layer, around) ??
  (around.nameOnly ? pick(BY_CUT_NAME.get(layer.token), layer, around) : null);

/** A package whose entry files are listed by path also holds helpers (claude's own ripgrep): those are not it. */
const byOwner = (layer: Layer, around: Surroundings): Family | null => {
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
} satisfies Record<Standing, (layer: Layer, around: Surroundings) => Family | null>;

export const familyOf = (layer: Layer, around: Surroundings = NOWHERE): Family | null =>
  LOOK_UP[layer.as](layer, around);

/** Where a program lies; asked last, because an interpreter's place says little about what it runs. */
export const familyOfPlace = (layer: Layer, around: Surroundings): Family | null =>
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
