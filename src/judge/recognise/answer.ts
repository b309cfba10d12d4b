import type { Family, Form } from '../../agents/family-type.ts';
import type { Kind, Recognition } from '../../model/kind.ts';
import { hasFlag, saidTransport, sessionIdsOf } from './arguments.ts';
import { baseOf, programName } from './argv.ts';
import type { Layer } from './layers.ts';

/** A recognition before the whole argv was searched for the word `mcp`. */
export type Answer = Omit<Recognition, 'mentionsMcp'>;

export const BLANK: Answer = {
  kind: 'other',
  agent: null,
  family: null,
  known: null,
  name: '',
  role: null,
  wraps: null,
  transport: null,
  saysStdio: false,
  sessionIds: [],
  forkedFrom: [],
  anchor: null,
  adoptsOrphans: false,
};

type Transport = Pick<Answer, 'transport' | 'saysStdio'>;

const SILENT: Transport = { transport: null, saysStdio: false };

/** How a server is reached: by its record, else by its flags; stdio is what every one of them defaults to. */
export const reachedBy = (
  layer: Pick<Layer, 'words' | 'from'>,
  listed?: 'stdio' | 'http' | undefined,
): Transport => {
  const said = listed ?? saidTransport(layer.words, layer.from);
  return { transport: said ?? 'stdio', saysStdio: said === 'stdio' };
};

export const speaks = (kind: Kind): boolean => kind === 'mcp' || kind === 'lean-lsp';

/** `lean --worker` alone does not tell twenty of them apart. */
const nameWithFile = (name: string, words: readonly string[]): string => {
  const file = words.findLast(word => word.endsWith('.lean'));
  return file === undefined ? name : `${name} ${baseOf(file)}`;
};

const NONE: readonly string[] = [];

/** A fork has an id of its own: what it was forked from, as an id or as the path of its transcript, is no id of it. */
const sessionsOf = (
  { sessionFlags, forks }: Family,
  { words, from }: Layer,
): Pick<Answer, 'sessionIds' | 'forkedFrom'> => {
  if (sessionFlags === undefined) return { sessionIds: NONE, forkedFrom: NONE };
  const sessionIds = sessionIdsOf(words, from, sessionFlags);
  if (forks === undefined || !hasFlag(words, from, [forks.flag])) return { sessionIds, forkedFrom: NONE };
  const forkedFrom = sessionIdsOf(words, from, forks.from, word => baseOf(word).replace(/\.jsonl$/, ''));
  return { sessionIds: sessionIds.filter(id => !forkedFrom.includes(id)), forkedFrom };
};

/** What a family's record, refined by one of its forms, says about a token. */
export const answerOf = (family: Family, form: Form | undefined, layer: Layer): Answer => {
  const kind = form?.kind ?? family.kind;
  const launcher = layer.as === 'script' && family.launcherWhenInterpreted === true;
  const name = form?.name ?? family.name ?? programName(layer.token);
  return {
    kind: launcher ? 'wrapper' : kind,
    agent: kind === 'agent' && !launcher ? (family.agent ?? family.id) : null,
    family: form?.family ?? family.id,
    known: 'list',
    name: kind === 'lean' ? nameWithFile(name, layer.words) : name,
    role: form?.role !== undefined ? form.role : (family.role ?? null),
    wraps: launcher ? kind : null,
    ...(speaks(kind) ? reachedBy(layer, form?.transport ?? family.transport) : SILENT),
    ...sessionsOf(family, layer),
    anchor: form?.anchor !== undefined ? form.anchor : (family.anchor ?? null),
    adoptsOrphans: form?.adoptsOrphans ?? family.adoptsOrphans ?? false,
  };
};

/** What a wrapper takes over from what it carries. */
export const carried = (
  inner: Answer | null,
): Pick<Answer, 'wraps' | 'known' | 'transport' | 'saysStdio'> => ({
  wraps: carriedKind(inner),
  known: inner?.known ?? null,
  transport: inner?.transport ?? null,
  saysStdio: inner?.saysStdio ?? false,
});

/** The kind at the bottom of nested wrappers; nothing when that is nothing we know. */
const carriedKind = (inner: Answer | null): Kind | null => {
  if (inner === null || inner.kind === 'other') return null;
  return inner.kind === 'wrapper' ? inner.wraps : inner.kind;
};
