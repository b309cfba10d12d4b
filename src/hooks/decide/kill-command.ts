import { plainRegexMatcher } from '../../model/glob.ts';

/** What a command line would kill without naming a pid. */
export type KillTarget =
  | { readonly by: 'everything' }
  | { readonly by: 'name'; readonly fits: (name: string, commandLine: string) => boolean }
  | { readonly by: 'port'; readonly ports: readonly number[] }
  /** Null: the server that a plain `tmux` speaks to; else how its socket's path ends. */
  | { readonly by: 'tmux'; readonly socket: string | null }
  | { readonly by: 'containers' };

export interface BroadKill {
  readonly target: KillTarget;
  /** The part of the command line that does it. */
  readonly words: string;
}

/** A word of a command line. */
interface Word {
  readonly text: string;
  /** Nothing in it depends on what the shell puts in. */
  readonly plain: boolean;
  /** What `$(…)` or backquotes in it run. */
  readonly inner: string | null;
}

type Simple = readonly Word[];
type Pipeline = readonly Simple[];

/** Longer ones pass: nobody reads them, and a hook has no time to. */
const MOST_LENGTH = 8192;
const MOST_DEPTH = 3;

/** Where the `)` or backquote is that closes what opens before `from`; -1: nowhere. */
const closing = (line: string, from: number, close: string): number => {
  let depth = 0;
  for (let i = from; i < line.length; i++) {
    const char = line[i];
    if (char === '\\') i += 1;
    else if (char === "'" && close === ')') {
      i = line.indexOf("'", i + 1);
      if (i === -1) return -1;
    } else if (char === close && depth === 0) return i;
    else if (char === '(') depth += 1;
    else if (char === ')') depth -= 1;
  }
  return -1;
};

/** Reads one word at `from`; null: it is not closed, and then nothing is known. */
const wordAt = (line: string, from: number): { readonly word: Word; readonly end: number } | null => {
  let [text, plain, inner, quote] = ['', true, null as string | null, ''];
  let i = from;
  for (; i < line.length; i++) {
    const char = line[i] as string;
    if (quote === "'") {
      if (char === "'") quote = '';
      else text += char;
    } else if (char === '\\') {
      i += 1;
      text += line[i] ?? '';
    } else if (char === quote) quote = '';
    else if (quote === '' && (char === "'" || char === '"')) quote = char;
    else if (char === '`' || (char === '$' && line[i + 1] === '(')) {
      const start = i + (char === '`' ? 1 : 2);
      const end = closing(line, start, char === '`' ? '`' : ')');
      if (end === -1) return null;
      inner = line.slice(start, end);
      plain = false;
      i = end;
    } else if (quote === '' && /[\s;&|()<>]/.test(char)) break;
    else {
      if (char === '$' || (quote === '' && '*?['.includes(char))) plain &&= char !== '$';
      text += char;
    }
  }
  return quote === '' ? { word: { text, plain, inner }, end: i } : null;
};

/** What is between `<<EOF` and `EOF` is a text, not commands. */
const HERE_DOCUMENT = /<<-?[ \t]*(['"]?)(\w+)\1([^\n]*)\n(?:[^\n]*\n)*?[ \t]*\2(?=\n|$)/g;

/** The commands of a line, pipeline by pipeline. Null: it is more of a program than we read. */
const pipelinesOf = (line: string): readonly Pipeline[] | null => {
  const pipelines: Pipeline[] = [];
  let pipeline: Simple[] = [];
  let words: Word[] = [];
  const endCommand = (): void => {
    if (words.length > 0) pipeline.push(words);
    words = [];
  };
  const endPipeline = (): void => {
    endCommand();
    if (pipeline.length > 0) pipelines.push(pipeline);
    pipeline = [];
  };
  for (let i = 0; i < line.length; ) {
    const char = line[i] as string;
    if (char === '#' && (i === 0 || /\s/.test(line[i - 1]!))) {
      const end = line.indexOf('\n', i);
      i = end === -1 ? line.length : end;
    } else if ('\n;()'.includes(char)) {
      endPipeline();
      i += 1;
    } else if (char === '&' && /[<>]/.test(line[i - 1] ?? '')) i += 1;
    else if (char === '&' && line[i + 1] === '>') i += 1;
    else if (char === '&' || line.startsWith('||', i)) {
      endPipeline();
      i += line[i + 1] === char ? 2 : 1;
    } else if (char === '|') {
      endCommand();
      i += line[i + 1] === '&' ? 2 : 1;
    } else if (/[\s<>]/.test(char)) i += 1;
    else {
      const read = wordAt(line, i);
      if (read === null) return null;
      // A file that is read or written is no argument; nor is the number before it.
      const isRedirected = /[<>]&?\s*$/.test(line.slice(Math.max(0, i - 8), i));
      const isNumbered = /^\d$/.test(read.word.text) && /[<>]/.test(line[read.end] ?? '');
      if (!isRedirected && !isNumbered) words.push(read.word);
      i = read.end;
    }
  }
  endPipeline();
  return pipelines;
};

/** Words that stand before a command. */
const BEFORE = new Set(['then', 'do', 'else', 'if', 'while', '{', '!', 'nohup', 'time', 'command', 'exec']);
/** The same, with flags of their own (those named take a value) and words. */
const CARRIERS: Readonly<Record<string, { readonly valued: readonly string[]; readonly words: number }>> = {
  sudo: { valued: ['-u', '-g'], words: 0 },
  env: { valued: ['-u'], words: 0 },
  nice: { valued: ['-n'], words: 0 },
  timeout: { valued: ['-k', '-s'], words: 1 },
  setsid: { valued: [], words: 0 },
};

const baseName = (word: Word | undefined): string =>
  word?.plain === true ? word.text.slice(word.text.lastIndexOf('/') + 1) : '';

/** Without assignments and what only carries the command. */
const commandOf = (words: Simple): Simple => {
  let at = 0;
  for (;;) {
    const name = baseName(words[at]);
    if (BEFORE.has(name) || /^\w+=/.test(words[at]?.text ?? '')) at += 1;
    else if (Object.hasOwn(CARRIERS, name)) {
      const carrier = CARRIERS[name]!;
      at += 1;
      while (words[at]?.text.startsWith('-') === true) at += carrier.valued.includes(words[at]!.text) ? 2 : 1;
      at += carrier.words;
    } else return words.slice(at);
  }
};

const isNumber = (text: string): boolean => /^\d+$/.test(text);

interface Flags {
  readonly letters: ReadonlySet<string>;
  readonly rest: readonly Word[];
}

/**
 * Flags by letter, and what is left. `alone`: letters without a value; `valued`: with one. A signal is `-9`, `-KILL`,
 * `-SIGTERM`. Null: a flag that we do not know.
 */
const flagsOf = (words: Simple, alone: string, valued: string): Flags | null => {
  const letters = new Set<string>();
  const rest: Word[] = [];
  for (let i = 0; i < words.length; i++) {
    const { text } = words[i]!;
    if (rest.length > 0 && !text.startsWith('-')) rest.push(words[i]!);
    else if (text === '--') return { letters, rest: [...rest, ...words.slice(i + 1)] };
    else if (!text.startsWith('-') || text === '-') rest.push(words[i]!);
    else if (/^-(?:\d+|(?:SIG)?[A-Z]{3,}\d?)$/.test(text)) letters.add('signal');
    else if (/^--signal(?:=|$)/.test(text)) i += text === '--signal' ? 1 : 0;
    else if (text === '--full') letters.add('f');
    else if (text === '--exact') letters.add('x');
    else if (text.startsWith('--')) return null;
    else
      for (const letter of text.slice(1)) {
        letters.add(letter);
        if (valued.includes(letter)) {
          if (text.endsWith(letter)) i += 1;
          break;
        }
        if (!alone.includes(letter)) return null;
      }
  }
  return { letters, rest };
};

/** Linux keeps so many characters of a program's name. */
const COMM_LENGTH = 15;

const byPattern = (pattern: string, letters: ReadonlySet<string>): KillTarget | null => {
  const fold = (text: string): string => (letters.has('i') ? text.toLowerCase() : text);
  const fits = plainRegexMatcher(fold(letters.has('x') ? `^${pattern}$` : pattern));
  if (fits === null) return null;
  return { by: 'name', fits: (name, line) => fits(fold(letters.has('f') ? line : name)) };
};

/** `pgrep` and `pkill`. One that is limited to a parent, a group, a session or a terminal is not broad. */
const byProcps = (words: Simple): KillTarget | null => {
  const flags = flagsOf(words, 'fxinoceavlqw', 'uUd');
  const [pattern, more] = flags?.rest ?? [];
  return flags === null || pattern === undefined || more !== undefined || !pattern.plain
    ? null
    : byPattern(pattern.text, flags.letters);
};

const byNames = (words: readonly Word[]): KillTarget | null => {
  const names = new Set(words.map(({ text }) => text.slice(0, COMM_LENGTH)));
  return words.length === 0 || words.some(({ plain }) => !plain)
    ? null
    : { by: 'name', fits: name => names.has(name) };
};

const byKillall = (words: Simple): KillTarget | null => {
  const flags = flagsOf(words, 'eIgiqrvwl', 'us');
  if (flags === null) return null;
  const [pattern] = flags.rest;
  return flags.letters.has('r') && pattern?.plain === true
    ? byPattern(pattern.text, flags.letters)
    : byNames(flags.rest);
};

const byPorts = (texts: readonly string[]): KillTarget | null => {
  const ports = texts.map(Number);
  return ports.length > 0 && ports.every(port => Number.isInteger(port) && port > 0 && port < 65_536)
    ? { by: 'port', ports }
    : null;
};

/** `lsof -ti:3000`, `lsof -t -i tcp:3000`. */
const byLsof = (words: Simple): KillTarget | null => {
  const text = words.map(word => word.text).join(' ');
  const port = /(?:^|\s)-[a-zA-Z]*i\s*(?:tcp|TCP)?@?:(\d+)/.exec(text)?.[1];
  return words.every(({ plain }) => plain) && port !== undefined ? byPorts([port]) : null;
};

/** `ps aux | grep node | awk …`: the first `grep` that does not leave out. */
const byListing = (pipeline: Pipeline): KillTarget | null => {
  for (const command of pipeline.slice(1)) {
    const [program, ...args] = commandOf(command);
    if (!/^[ef]?grep$/.test(baseName(program))) continue;
    const flags = flagsOf(args, 'eEFiwvxoP', '');
    if (flags === null) return null;
    if (flags.letters.has('v')) continue;
    const [pattern, more] = flags.rest;
    if (pattern === undefined || more !== undefined || !pattern.plain) return null;
    const letters = new Set([...flags.letters, 'f'].filter(letter => letter !== 'x'));
    return byPattern(pattern.text.replaceAll('\\|', '|'), letters);
  }
  return null;
};

/** Whose pids this prints; null: not known. */
const pidsOf = (pipeline: Pipeline): KillTarget | null => {
  const [program, ...args] = commandOf(pipeline[0] ?? []);
  const name = baseName(program);
  if (name === 'pgrep') return byProcps(args);
  if (name === 'pidof') return byNames(args.filter(({ text }) => !text.startsWith('-')));
  if (name === 'lsof') return byLsof(args);
  return name === 'ps' ? byListing(pipeline) : null;
};

const pidsIn = (text: string): KillTarget | null => {
  const [pipeline, more] = pipelinesOf(text) ?? [];
  return pipeline === undefined || more !== undefined ? null : pidsOf(pipeline);
};

const byKill = (words: Simple): KillTarget | null => {
  const texts = words.map(({ text }) => text);
  // The first may be a signal, `kill -1` is one; behind a signal or `--` it is everybody.
  if (texts.slice(1).includes('-1') && /^-/.test(texts[0] ?? '')) return { by: 'everything' };
  const inner = words.find(word => word.inner !== null)?.inner;
  return inner == null ? null : pidsIn(inner);
};

const byFuser = (words: Simple): KillTarget | null => {
  const texts = words.map(({ text }) => text);
  if (!texts.some(text => /^-[a-zA-Z]*k/.test(text)) || words.some(({ plain }) => !plain)) return null;
  const named = texts.filter(text => /^\d+\/(?:tcp|udp)$/.test(text)).map(text => text.split('/')[0]!);
  return byPorts(named.length > 0 ? named : texts.includes('tcp') ? texts.filter(isNumber) : []);
};

const byTmux = (words: Simple): KillTarget | null => {
  if (!words.some(({ text }) => /^kill-server$/.test(text))) return null;
  const at = words.findIndex(({ text }) => text === '-L' || text === '-S');
  const socket = at === -1 ? null : (words[at + 1] ?? null);
  if (socket?.plain === false) return null;
  return { by: 'tmux', socket: socket === null ? null : socket.text };
};

const byContainers = (words: Simple): KillTarget | null =>
  ['stop', 'rm', 'kill'].includes(words[0]?.text ?? '') &&
  words.some(({ inner }) => inner !== null && /^\s*(?:docker|podman)\s+(?:ps|container\s+ls)\b/.test(inner))
    ? { by: 'containers' }
    : null;

const TARGETS: Readonly<Record<string, (args: Simple) => KillTarget | null>> = {
  pkill: byProcps,
  killall: byKillall,
  kill: byKill,
  fuser: byFuser,
  tmux: byTmux,
  docker: byContainers,
  podman: byContainers,
};

const SHELLS = new Set(['sh', 'bash', 'zsh', 'dash']);

/** The text that a shell is given to run; null: none. */
const scriptOf = (name: string, args: Simple): string | null => {
  if (name === 'eval')
    return args.every(({ plain }) => plain) ? args.map(({ text }) => text).join(' ') : null;
  if (!SHELLS.has(name)) return null;
  const at = args.findIndex(({ text }) => /^-[a-z]*c$/.test(text));
  const script = at === -1 ? undefined : args[at + 1];
  return script?.plain === true ? script.text : null;
};

const shown = (pipeline: Pipeline): string =>
  pipeline
    .map(command =>
      command.map(({ text, inner }) => (inner === null ? text : `${text}$(${inner})`)).join(' '),
    )
    .join(' | ');

const killsIn = (line: string, depth: number): readonly BroadKill[] =>
  (pipelinesOf(line) ?? []).flatMap(pipeline =>
    pipeline.flatMap((command, index): readonly BroadKill[] => {
      const [program, ...args] = commandOf(command);
      const name = baseName(program);
      const script = scriptOf(name, args);
      if (script !== null) return depth === 0 ? [] : killsIn(script, depth - 1);
      if (name === 'xargs') {
        const target = args.some(word => baseName(word) === 'kill') ? pidsOf(pipeline.slice(0, index)) : null;
        return target === null ? [] : [{ target, words: shown(pipeline) }];
      }
      const target = Object.hasOwn(TARGETS, name) ? TARGETS[name]!(args) : null;
      return target === null ? [] : [{ target, words: shown([command]) }];
    }),
  );

/** What of this command line kills by name, by port, or everything. What we cannot read kills nothing that we know of. */
export const broadKillsIn = (line: string): readonly BroadKill[] =>
  line.length > MOST_LENGTH || !/kill|fuser|docker|podman/.test(line)
    ? []
    : killsIn(line.replace(HERE_DOCUMENT, '$3'), MOST_DEPTH);
