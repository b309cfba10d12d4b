/** `${VAR}` was expanded with the agent's environment, which we do not have. */
const VARIABLE = /\$\{[^{}]*\}/;

/** One argument of a configured server: literal pieces, with a variable between each two of them. */
export type ArgumentPattern = readonly string[];

export const patternOf = (arg: string): ArgumentPattern => arg.split(VARIABLE);

export const isLiteral = (pattern: ArgumentPattern): boolean => pattern.length === 1;

/** Says nothing but that there is an argument. */
export const isOnlyVariable = (pattern: ArgumentPattern): boolean =>
  !isLiteral(pattern) && pattern.every(piece => piece === '');

/** Whether a word is this argument, each variable standing for at least one character of it. Linear in the word. */
export const fits = (word: string, pattern: ArgumentPattern): boolean => {
  const [first = '', ...rest] = pattern;
  const last = rest.pop();
  if (last === undefined) return word === first;
  if (!word.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = word.indexOf(piece, at + 1);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return word.endsWith(last) && word.length - last.length > at;
};
