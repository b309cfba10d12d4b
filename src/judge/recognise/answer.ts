import type { Family, Form } from '../../agents/index.ts';
import type { Kind, Recognition } from '../../model/kind.ts';
import { sessionIdsOf, transportOf } from './arguments.ts';
import type { Layer } from './layers.ts';
import { baseOf, programName } from './words.ts';

/** A recognition before the whole argv was searched for the word `mcp`. */
export type Answer = Omit<Recognition, 'mentionsMcp'>;

export const BLANK: Answer = {
  kind: 'other',
  agent: null,
  family: null,
  name: '',
  role: null,
  wraps: null,
  transport: null,
  sessionIds: [],
  anchor: null,
  adoptsOrphans: false,
};

const speaks = (kind: Kind): boolean => kind === 'mcp' || kind === 'lean-lsp';

/** `lean --worker` alone does not tell twenty of them apart. */
const nameWithFile = (name: string, words: readonly string[]): string => {
  const file = words.findLast(word => word.endsWith('.lean'));
  return file === undefined ? name : `${name} ${baseOf(file)}`;
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
    name: kind === 'lean' ? nameWithFile(name, layer.words) : name,
    role: form?.role !== undefined ? form.role : (family.role ?? null),
    wraps: launcher ? kind : null,
    transport: speaks(kind)
      ? (form?.transport ?? family.transport ?? transportOf(layer.words, layer.from))
      : null,
    sessionIds: family.sessionFlags ? sessionIdsOf(layer.words, layer.from, family.sessionFlags) : [],
    anchor: form?.anchor !== undefined ? form.anchor : (family.anchor ?? null),
    adoptsOrphans: form?.adoptsOrphans ?? family.adoptsOrphans ?? false,
  };
};
