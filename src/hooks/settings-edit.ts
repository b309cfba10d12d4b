import {
  createScanner,
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { HOOK_EVENTS, type HookEvent } from '../model/hook.ts';
import type { JsonObject } from '../model/json.ts';

/** One hook of ours as settings.json is to have it. */
export interface WantedHook {
  readonly event: HookEvent;
  readonly matcher: string | null;
  readonly command: string;
  /** With them no shell is involved. */
  readonly args?: readonly string[];
  readonly timeout: number;
  /** The agent does not wait for it. */
  readonly async?: true;
  /** Only for calls that this rule of permissions fits. */
  readonly if?: string;
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
  refuseTwice(root, ['hooks', 'statusLine'], '');
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

/** What the commands in a file of Codex end with. */
export const FOR_CODEX = ' --codex';

const QUOTED = String.raw`'((?:[^']|'\\'')*)'`;

/** Exactly as we write it: by name, by name where it is shared, or node and script in quotes. */
const isOurs = (said: unknown, event: HookEvent, isReaptop: IsReaptop): said is string => {
  if (typeof said !== 'string') return false;
  const command = said.endsWith(FOR_CODEX) ? said.slice(0, -FOR_CODEX.length) : said;
  if (command === `reaptop hook ${event}` || command === sharedCommand(event)) return true;
  const script = new RegExp(`^${QUOTED} ${QUOTED} hook ${event}$`).exec(command)?.[2];
  return script !== undefined && isReaptop(script.replaceAll("'\\''", "'"));
};

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const foundIn = (root: Node | null, isReaptop: IsReaptop): readonly FoundHook[] =>
  HOOK_EVENTS.flatMap(event => {
    const groups = root === null ? undefined : groupsAt(root, event);
    return asList(groups === undefined ? [] : getNodeValue(groups)).flatMap((group, index) =>
      asList((group as JsonObject | null)?.hooks).flatMap((hook, place) => {
        const command = (hook as JsonObject | null)?.command;
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

/** As a hooks file has it. */
export const groupFor = ({ matcher, command, args, timeout, async, ...hook }: WantedHook): object => ({
  ...(matcher === null ? {} : { matcher }),
  hooks: [
    {
      type: 'command',
      command,
      ...(args === undefined ? {} : { args }),
      timeout,
      ...(async === undefined ? {} : { async }),
      ...(hook.if === undefined ? {} : { if: hook.if }),
    },
  ],
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
  const known = foundIn(treeOf(body), isReaptop);
  for (const hook of wanted) {
    const there = known.filter(({ event }) => event === hook.event);
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

/** The command of Claude's status line; null: there is none. */
export const statusLineIn = (text: string): string | null => {
  const root = treeOf(parted(text)[1]);
  const line = root === null ? undefined : findNodeAtLocation(root, ['statusLine']);
  if (line === undefined) return null;
  const { type, command } = (line.type === 'object' ? getNodeValue(line) : {}) as JsonObject;
  if (type !== 'command' || typeof command !== 'string') throw new Unfit('its "statusLine" is not a command');
  return command;
};

/** With this command as the status line, in the place of the one that is there; null: without one. */
export const withStatusLine = (text: string, command: string | null): string => {
  const [mark, body] = parted(text);
  const there = statusLineIn(text);
  if (command === null) return there === null ? text : mark + without(body, ['statusLine']);
  const node = nodeAt(body, ['statusLine', 'command']);
  if (node !== undefined)
    return mark + body.slice(0, node.offset) + JSON.stringify(command) + body.slice(endOf(node));
  const style = styleOf(body);
  const root = treeOf(body);
  const value = { type: 'command', command, refreshInterval: 5 };
  if (root !== null) return mark + insertLast(body, root, 'statusLine', value, style);
  return `${text}${JSON.stringify({ statusLine: value }, null, style.indent)}${style.eol}`;
};

/**
 * Edits of a JSON text with comments that take not one byte away from what the user wrote: a new member is only
 * put in, and a member that goes takes its comma and the blanks around it along, never a comment. jsonc-parser's own
 * edits reformat the neighbours.
 */

export interface Style {
  readonly eol: string;
  /** One level of indentation. */
  readonly indent: string;
}

/** As the text itself is written. */
export const styleOf = (text: string): Style => ({
  eol: text.includes('\r\n') ? '\r\n' : '\n',
  indent: /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ',
});

const endOf = (node: Node): number => node.offset + node.length;

/** The blanks that a line begins with. */
const indentAt = (text: string, offset: number): string => {
  const from = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(from, offset))?.[0] ?? '';
};

const startsLine = (text: string, offset: number): boolean =>
  text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset).trim() === '' &&
  text.lastIndexOf('\n', offset - 1) >= 0;

const written = (value: unknown, { eol, indent }: Style, at: string): string =>
  JSON.stringify(value, null, indent).replaceAll('\n', `${eol}${at}`);

/** `"key": value`, or the bare value for a list. */
const memberText = (key: string | null, value: string): string =>
  key === null ? value : `${JSON.stringify(key)}: ${value}`;

/** Puts a member behind the last one of an object (with a key) or a list (without). */
export const insertLast = (
  text: string,
  container: Node,
  key: string | null,
  value: unknown,
  style: Style,
): string => {
  const last = container.children?.at(-1);
  const put = (at: number, what: string): string => text.slice(0, at) + what + text.slice(at);
  if (last !== undefined) {
    if (!startsLine(text, last.offset))
      return put(endOf(last), `, ${memberText(key, JSON.stringify(value))}`);
    const at = indentAt(text, last.offset);
    return put(endOf(last), `,${style.eol}${at}${memberText(key, written(value, style, at))}`);
  }
  const around = indentAt(text, container.offset);
  const at = around + style.indent;
  const rest = text.slice(container.offset + 1);
  const closes = /^[ \t]*\r?\n/.test(rest) ? '' : `${style.eol}${around}`;
  return put(container.offset + 1, `${style.eol}${at}${memberText(key, written(value, style, at))}${closes}`);
};

const BLANK = /^[\s,]*$/;

/** The comma between two offsets, comments left out of sight; null: there is none. */
const commaBetween = (text: string, from: number, to: number): number | null => {
  const scanner = createScanner(text, false);
  scanner.setPosition(from);
  // Not the kinds of tokens by name: they are a const enum of another package.
  for (scanner.scan(); scanner.getTokenOffset() < to; scanner.scan())
    if (text[scanner.getTokenOffset()] === ',') return scanner.getTokenOffset();
  return null;
};

const cut = (text: string, from: number, to: number): string => text.slice(0, from) + text.slice(to);

/** Takes one member out, with the comma that it needed. */
export const removeMember = (text: string, container: Node, index: number): string => {
  const children = container.children ?? [];
  const node = children[index];
  if (node === undefined) return text;
  const [before, after] = [children[index - 1], children[index + 1]];
  if (before !== undefined) {
    if (BLANK.test(text.slice(endOf(before), node.offset))) return cut(text, endOf(before), endOf(node));
    const comma = commaBetween(text, endOf(before), node.offset);
    const without = cut(text, node.offset, endOf(node));
    return comma === null ? without : cut(without, comma, comma + 1);
  }
  if (after !== undefined) {
    if (BLANK.test(text.slice(endOf(node), after.offset))) return cut(text, node.offset, after.offset);
    const comma = commaBetween(text, endOf(node), after.offset);
    const without = comma === null ? text : cut(text, comma, comma + 1);
    return cut(without, node.offset, endOf(node));
  }
  const [start, end] = [container.offset + 1, endOf(container) - 1];
  const lonely = BLANK.test(text.slice(start, node.offset)) && BLANK.test(text.slice(endOf(node), end));
  if (lonely) return cut(text, start, end);
  const comma = commaBetween(text, endOf(node), end);
  const without = comma === null ? text : cut(text, comma, comma + 1);
  return cut(without, node.offset, endOf(node));
};
