import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { HOOK_EVENTS, type HookEvent } from '../../model/hook.ts';
import { insertLast, removeMember, styleOf } from './json-insert.ts';

/** One hook of ours as settings.json is to have it. */
export interface WantedHook {
  readonly event: HookEvent;
  readonly matcher: string | null;
  readonly command: string;
  readonly timeout: number;
}

export interface FoundHook {
  readonly event: HookEvent;
  readonly command: string;
  /** Where it stands: group, and place in it. */
  readonly at: readonly [group: number, place: number];
}

/** A settings file that cannot be edited: a sentence that says why. */
export class Unfit extends Error {}

const BOM = '\ufeff';

/** The tree of a settings file; null: it holds nothing yet. */
const treeOf = (body: string): Node | null => {
  const errors: ParseError[] = [];
  const root = parseTree(body, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [error] = errors;
  if (error !== undefined) {
    const line = body.slice(0, error.offset).split('\n').length;
    throw new Unfit(`it is not valid JSON (line ${line}: ${printParseErrorCode(error.error)})`);
  }
  if (root === undefined) return null;
  if (root.type !== 'object') throw new Unfit('it does not hold an object');
  refuseTwice(root, ['hooks'], '');
  const hooks = findNodeAtLocation(root, ['hooks']);
  if (hooks !== undefined && hooks.type !== 'object') throw new Unfit('its "hooks" is not an object');
  if (hooks !== undefined) refuseTwice(hooks, HOOK_EVENTS, 'hooks.');
  for (const event of HOOK_EVENTS)
    if ((groupsAt(root, event)?.type ?? 'array') !== 'array')
      throw new Unfit(`its "hooks.${event}" is not a list`);
  return root;
};

/** Of two members of one name the last counts, and an edit would change the first. */
const refuseTwice = ({ children = [] }: Node, names: readonly string[], above: string): void => {
  const keys = children.map(({ children: [key] = [] }) => String(key?.value));
  const twice = names.find(name => keys.indexOf(name) !== keys.lastIndexOf(name));
  if (twice !== undefined) throw new Unfit(`it has "${above}${twice}" more than once: remove one of them`);
};

const groupsAt = (root: Node, event: HookEvent): Node | undefined =>
  findNodeAtLocation(root, ['hooks', event]);

/** Whether a script is this program, wherever it is installed. */
export type IsReaptop = (script: string) => boolean;

/** By its path alone, for one that is not there any more. */
export const isCalledReaptop: IsReaptop = script => /(?:^|\/)reaptop(?:\/dist\/cli\.js)?$/.test(script);

/** For a file that colleagues share: silent where there is no reaptop. */
export const sharedCommand = (event: HookEvent): string =>
  `command -v reaptop > /dev/null 2>&1 || exit 0; exec reaptop hook ${event}`;

const QUOTED = String.raw`'((?:[^']|'\\'')*)'`;

/** Exactly as we write it: by name, by name where it is shared, or node and script in quotes. */
const isOurs = (command: unknown, event: HookEvent, isReaptop: IsReaptop): command is string => {
  if (typeof command !== 'string') return false;
  if (command === `reaptop hook ${event}` || command === sharedCommand(event)) return true;
  const script = new RegExp(`^${QUOTED} ${QUOTED} hook ${event}$`).exec(command)?.[2];
  return script !== undefined && isReaptop(script.replaceAll("'\\''", "'"));
};

type Fields = Readonly<Record<string, unknown>>;

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const foundIn = (root: Node | null, isReaptop: IsReaptop): readonly FoundHook[] =>
  HOOK_EVENTS.flatMap(event => {
    const groups = root === null ? undefined : groupsAt(root, event);
    return asList(groups === undefined ? [] : getNodeValue(groups)).flatMap((group, index) =>
      asList((group as Fields | null)?.hooks).flatMap((hook, place) => {
        const command = (hook as Fields | null)?.command;
        return isOurs(command, event, isReaptop) ? [{ event, command, at: [index, place] as const }] : [];
      }),
    );
  });

/** A byte order mark stays where it is. */
const parted = (text: string): readonly [mark: string, body: string] =>
  text.startsWith(BOM) ? [BOM, text.slice(1)] : ['', text];

/** Hooks of ours in a settings file, in the order in which they stand there. */
export const hooksIn = (text: string, isReaptop: IsReaptop = isCalledReaptop): readonly FoundHook[] =>
  foundIn(treeOf(parted(text)[1]), isReaptop);

const groupFor = ({ matcher, command, timeout }: WantedHook): object => ({
  ...(matcher === null ? {} : { matcher }),
  hooks: [{ type: 'command', command, timeout }],
});

const added = (body: string, hook: WantedHook): string => {
  const style = styleOf(body);
  const root = treeOf(body);
  const group = groupFor(hook);
  if (root === null) {
    const line = body === '' || body.endsWith('\n') ? '' : style.eol;
    const text = JSON.stringify({ hooks: { [hook.event]: [group] } }, null, style.indent);
    return `${body}${line}${text.replaceAll('\n', style.eol)}${style.eol}`;
  }
  const groups = groupsAt(root, hook.event);
  if (groups !== undefined) return insertLast(body, groups, null, group, style);
  const hooks = findNodeAtLocation(root, ['hooks']);
  return hooks === undefined
    ? insertLast(body, root, 'hooks', { [hook.event]: [group] }, style)
    : insertLast(body, hooks, hook.event, [group], style);
};

/** A command of ours that starts us in another way is brought up to date in its place. */
const updated = (body: string, { event, at }: FoundHook, command: string): string => {
  const root = treeOf(body);
  const node =
    root === null ? undefined : findNodeAtLocation(root, ['hooks', event, at[0], 'hooks', at[1], 'command']);
  return node === undefined
    ? body
    : body.slice(0, node.offset) + JSON.stringify(command) + body.slice(node.offset + node.length);
};

/** Adds the hooks that are not there yet. Not one byte of what is there goes. */
export const withHooks = (
  text: string,
  wanted: readonly WantedHook[],
  isReaptop: IsReaptop = isCalledReaptop,
): string => {
  const [mark, before] = parted(text);
  let body = before;
  for (const hook of wanted) {
    const there = foundIn(treeOf(body), isReaptop).filter(({ event }) => event === hook.event);
    if (there.length === 0) body = added(body, hook);
    for (const found of there) if (found.command !== hook.command) body = updated(body, found, hook.command);
  }
  return mark + body;
};

const isEmpty = (body: string, node: Node | undefined): boolean =>
  node !== undefined && /^[[{][\s,]*[\]}]$/.test(body.slice(node.offset, node.offset + node.length));

/** Takes a member out of the node that holds it; a property is a member of its object. */
const without = (body: string, path: readonly (string | number)[]): string => {
  const root = treeOf(body);
  const node = root === null ? undefined : findNodeAtLocation(root, [...path]);
  const member = node?.parent?.type === 'property' ? node.parent : node;
  const container = member?.parent;
  return member === undefined || container?.children === undefined
    ? body
    : removeMember(body, container, container.children.indexOf(member));
};

const nodeAt = (body: string, path: readonly (string | number)[]): Node | undefined => {
  const root = treeOf(body);
  return root === null ? undefined : findNodeAtLocation(root, [...path]);
};

/** Takes ours out again, and what is then empty with it; every other setting and every comment stays. */
export const withoutHooks = (text: string, isReaptop: IsReaptop = isCalledReaptop): string => {
  const [mark, before] = parted(text);
  let body = before;
  // From the back: what is taken out moves what follows it.
  for (const { event, at } of foundIn(treeOf(before), isReaptop).toReversed()) {
    const group = ['hooks', event, at[0]];
    const alone = nodeAt(body, [...group, 'hooks'])?.children?.length === 1;
    body = without(body, alone ? group : [...group, 'hooks', at[1]]);
    if (isEmpty(body, nodeAt(body, ['hooks', event]))) body = without(body, ['hooks', event]);
  }
  if (body !== before && isEmpty(body, nodeAt(body, ['hooks']))) body = without(body, ['hooks']);
  return mark + body;
};
