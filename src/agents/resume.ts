import type { EnvName } from '../model/process.ts';
import { MASK } from '../model/secret-patterns.ts';

/** How a family of agents brings a session back that has ended, as its own help and the real programs say. */
export interface Resume {
  /** The family, as `Family.agent` calls it. */
  readonly agent: string;
  /** What is typed before the id. */
  readonly words: readonly [string, ...string[]];
  /** Flags without a value that the resumed session needs, too. */
  readonly flags: readonly string[];
  /** Flags that take one value. */
  readonly values: readonly string[];
  /** Flags that take every word up to the next flag. */
  readonly lists: readonly string[];
  /** Flags that take a value which may be JSON: kept only when it is a path. */
  readonly paths: readonly string[];
  /** Flags and first words of a run that cannot be resumed, and why. */
  readonly never: Readonly<Record<string, string>>;
  /** Flags and words that the way back says itself, or that only mattered at the start. */
  readonly spent: readonly string[];
  /** The variable that names where it keeps its sessions, when that is not the usual place. */
  readonly home: EnvName | null;
  /** Below the home directory: where its running sessions are registered, unless `home` names another place. */
  readonly registry: string | null;
}

const PRINTS = 'it prints one answer and ends by itself';

/** As claude 2.1.325, codex 0.166.0, gemini 0.61.0 and copilot 1.0.102 take it. */
export const RESUMES: readonly Resume[] = [
  {
    agent: 'claude',
    words: ['claude', '--resume'],
    flags: [
      '--dangerously-skip-permissions',
      '--allow-dangerously-skip-permissions',
      '--strict-mcp-config',
      '--chrome',
      '--no-chrome',
      '--ide',
      '--bare',
      '--brief',
      '--verbose',
      '--restricted',
      '--safe-mode',
      '--disable-slash-commands',
      '--ax-screen-reader',
    ],
    values: [
      '--model',
      '--fallback-model',
      '--permission-mode',
      '--setting-sources',
      '--agent',
      '--effort',
      '--plugin-dir',
      '--autocompact',
    ],
    lists: [
      '--add-dir',
      '--allowedTools',
      '--allowed-tools',
      '--disallowedTools',
      '--disallowed-tools',
      '--tools',
      '--betas',
    ],
    paths: ['--settings', '--mcp-config'],
    never: {
      '-p': PRINTS,
      '--print': PRINTS,
      '--no-session-persistence': 'its conversation is not kept (--no-session-persistence)',
      '--cloud': 'it runs elsewhere (--cloud)',
      '--teleport': 'it runs elsewhere (--teleport)',
    },
    spent: ['--resume', '-r', '--continue', '-c', '--session-id', '--fork-session', '--name', '-n'],
    home: 'CLAUDE_CONFIG_DIR',
    registry: '.claude',
  },
  {
    agent: 'codex',
    words: ['codex', 'resume'],
    flags: [
      '--dangerously-bypass-approvals-and-sandbox',
      '--dangerously-bypass-hook-trust',
      '--approve-for-me',
      '--oss',
      '--search',
      '--strict-config',
      '--no-alt-screen',
      '--no-daemon',
    ],
    values: [
      ...['-m', '--model', '-p', '--profile', '-s', '--sandbox', '-a', '--ask-for-approval'],
      ...['-c', '--config', '--add-dir', '--enable', '--disable', '--local-provider', '-C', '--cd'],
    ],
    lists: [],
    paths: [],
    never: {
      exec: PRINTS,
      e: PRINTS,
      '--remote': 'it runs elsewhere (--remote)',
    },
    spent: ['--last', '--all', '-i', '--image'],
    home: null,
    registry: null,
  },
  {
    agent: 'gemini',
    words: ['gemini', '--resume'],
    flags: ['--yolo', '-y', '--sandbox', '-s', '--screen-reader', '--skip-trust', '--debug', '-d'],
    values: ['-m', '--model', '--approval-mode'],
    lists: ['--policy', '--allowed-mcp-server-names', '--allowed-tools', '--include-directories', '-e'],
    paths: [],
    never: { '-p': PRINTS, '--prompt': PRINTS },
    spent: ['-r', '--resume', '--session-id', '-i', '--prompt-interactive'],
    home: null,
    registry: null,
  },
  {
    agent: 'copilot',
    words: ['copilot', '--resume'],
    flags: [
      ...['--allow-all-tools', '--allow-all-paths', '--allow-all-urls', '--allow-all', '--yolo'],
      ...[
        '--disallow-temp-dir',
        '--disable-builtin-mcps',
        '--enable-all-github-mcp-tools',
        '--screen-reader',
      ],
      ...['--experimental', '--no-custom-instructions', '--no-auto-update', '--no-ask-user', '--no-color'],
    ],
    values: [
      ...['--model', '--reasoning-effort', '--context', '--agent', '--add-dir', '--plugin-dir', '--mode'],
      ...['--disable-mcp-server', '--enable-mcp-server', '--add-github-mcp-tool', '--log-level'],
    ],
    lists: [
      '--allow-tool',
      '--deny-tool',
      '--available-tools',
      '--excluded-tools',
      '--allow-url',
      '--deny-url',
    ],
    paths: ['--additional-mcp-config'],
    never: { '-p': PRINTS, '--prompt': PRINTS, '--connect': 'it runs elsewhere (--connect)' },
    spent: ['-r', '--resume', '--continue', '--session-id', '-i', '--interactive', '-n', '--name'],
    home: null,
    registry: null,
  },
];

const BY_AGENT: ReadonlyMap<string, Resume> = new Map(RESUMES.map(resume => [resume.agent, resume]));

export const resumeOf = (agent: string | null): Resume | null =>
  agent === null ? null : (BY_AGENT.get(agent) ?? null);

/**
 * Seen with opencode 1.18.33: `/sessions` and `/new` change no file but `model.json`, which holds no id.
 * Seen with gemini 0.61.0: in its log an answer and the words before a call look alike.
 */
const NEVER_ASLEEP: Readonly<Record<string, string>> = {
  opencode: 'OpenCode prints how to resume a session only as it ends; x ends it',
  gemini: 'Gemini does not record when a turn ends, so it may be at work; x ends it',
};

/** Why no session of a family is put to sleep; null: one may be. */
export const whyNeverAsleep = (agent: string | null): string | null => {
  const why = NEVER_ASLEEP[agent ?? ''];
  if (why !== undefined || resumeOf(agent) !== null) return why ?? null;
  return `how a session of ${agent ?? 'this agent'} is resumed is not known; x ends it`;
};

/** Nothing in an id may be taken for a flag, a second word or a pattern: it comes from files and is typed into shells. */
const SESSION_ID = /^[A-Za-z0-9][\w-]{5,79}$/;

export const isResumable = (id: string | null): id is string => id !== null && SESSION_ID.test(id);

export interface ResumeWords {
  /** The whole command, word by word. */
  readonly words: readonly string[];
  /** Flags of the old command line that it is resumed without. */
  readonly dropped: readonly string[];
}

const isFlag = (word: string): boolean => /^-{1,2}[A-Za-z]/.test(word);

/** A value that was masked, is JSON or was made visible is not what was typed, or not to be written down. */
const isPlain = (value: string): boolean =>
  value.length <= 400 && !value.includes(MASK) && !/^\s*[{[]|[\\\n\r]/.test(value);

/** The words after the program, as far as they are its own: `--` ends them. */
const ownWords = (argv: readonly string[]): readonly string[] => {
  const end = argv.indexOf('--');
  return argv.slice(1, end === -1 ? undefined : end);
};

/** Why a command line like this cannot be resumed; null: it can. */
export const whyNotResumed = ({ never, values }: Resume, argv: readonly string[]): string | null => {
  const words = ownWords(argv);
  for (const [at, word] of words.entries()) {
    const flag = word.split('=', 1)[0]!;
    // The value of another flag: `-m e`.
    if (!isFlag(word) && values.includes(words[at - 1] ?? '')) continue;
    // `-cp` is `-c -p`.
    const flags = /^-[A-Za-z]{2,}$/.test(word) ? [...word.slice(1)].map(letter => `-${letter}`) : [flag];
    for (const one of flags) if (Object.hasOwn(never, one)) return never[one]!;
  }
  return null;
};

/** The command that brings a session back, with those flags of its own that still matter. No secret is in it. */
export const resumeWords = (resume: Resume, id: string, argv: readonly string[]): ResumeWords => {
  const kept: string[] = [];
  const dropped: string[] = [];
  const words = ownWords(argv);
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    if (!isFlag(word)) continue;
    const equals = word.indexOf('=');
    const flag = equals < 0 ? word : word.slice(0, equals);
    if (resume.spent.includes(flag)) continue;
    const isList = resume.lists.includes(flag) || resume.paths.includes(flag);
    const takesValue = isList || resume.values.includes(flag);
    const rest = words.slice(at + 1);
    const end = rest.findIndex(isFlag);
    const following = takesValue ? rest.slice(0, isList ? (end < 0 ? rest.length : end) : 1) : [];
    const taken = equals < 0 ? following.filter(value => isList || !isFlag(value)) : [word.slice(equals + 1)];
    if (equals < 0) at += taken.length;
    const isKnown = takesValue ? taken.length > 0 : equals < 0 && resume.flags.includes(flag);
    if (isKnown && taken.every(isPlain))
      kept.push(equals < 0 ? word : `${flag}=${taken[0]}`, ...(equals < 0 ? taken : []));
    else if (!dropped.includes(flag)) dropped.push(flag);
  }
  return { words: [...resume.words, id, ...kept], dropped };
};
