import type { Recognition } from '../../model/kind.ts';
import type { ProcessFacts } from '../../model/process.ts';
import { isElision } from './argv.ts';

type Recognise = (facts: ProcessFacts) => Recognition;

/** Interpreter and script: `node ...` alone could be anything. */
const LEAST_WORDS = 2;

/** The words before the `...` at the end; null: the line is whole, or says too little. */
const beginningOf = ({ argv }: ProcessFacts): readonly string[] | null =>
  argv !== null && argv.length > LEAST_WORDS && isElision(argv.at(-1)!) ? argv.slice(0, -1) : null;

const beginsWith = ({ argv }: ProcessFacts, words: readonly string[]): boolean =>
  argv !== null && argv.length > words.length && words.every((word, at) => argv[at] === word);

const isSame = (a: Recognition, b: Recognition): boolean =>
  a.kind === b.kind && a.wraps === b.wraps && a.agent === b.agent && a.role === b.role;

const joined = (words: readonly string[]): string => words.join('\0');
const keyOf = (argv: readonly string[]): string => joined(argv.slice(0, LEAST_WORDS));

/** What the whole lines that begin like this are, if they are all the same. */
const sharedBy = (alike: readonly Recognition[]): Recognition | null => {
  const [first, ...more] = alike;
  if (first === undefined || !more.every(other => isSame(first, other))) return null;
  return { ...first, known: 'alike', sessionIds: [], forkedFrom: [] };
};

/**
 * People paste `node node_modules/.bin/tsx ...` below the whole line that it repeats. It is read as that line if all
 * that begin the same are alike; this describes a process and proves nothing.
 */
export const withShortened = (processes: readonly ProcessFacts[], recognise: Recognise): Recognise => {
  if (!processes.some(facts => beginningOf(facts) !== null)) return recognise;
  const whole = new Map<string, ProcessFacts[]>();
  for (const facts of processes) {
    if (facts.argv === null || beginningOf(facts) !== null) continue;
    const others = whole.get(keyOf(facts.argv));
    if (others === undefined) whole.set(keyOf(facts.argv), [facts]);
    else others.push(facts);
  }
  const known = new Map<string, Recognition | null>();
  return facts => {
    const own = recognise(facts);
    const words = beginningOf(facts);
    if (words === null || own.wraps !== null || (own.kind !== 'wrapper' && own.family !== null)) return own;
    const key = joined(words);
    let shared = known.get(key);
    if (shared === undefined) {
      const others = (whole.get(keyOf(words)) ?? []).filter(other => beginsWith(other, words));
      shared = sharedBy(others.map(recognise));
      known.set(key, shared);
    }
    return shared ?? own;
  };
};
