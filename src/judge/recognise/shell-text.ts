// Anything that makes a command line more than one simple command.
const META = /[;&|<>()$`\\{}*?!#\n[\]]/;
const MAX_TEXT = 4096;

/**
 * The words of one simple command (`mcp-server-x '/a b'`), or null when the text is more than that.
 * What a longer text runs cannot be told without being a shell.
 */
export const simpleCommand = (text: string): readonly string[] | null => {
  if (text.length > MAX_TEXT || META.test(text)) return null;
  const words: string[] = [];
  for (const [, single, double, bare] of text.matchAll(/'([^']*)'|"([^"]*)"|([^\s'"]+)/g)) {
    words.push(single ?? double ?? bare ?? '');
  }
  const [first] = words;
  // A quoted program is a sign of generated text (`eval '…'`): leave it alone.
  if (first === undefined || !text.trimStart().startsWith(first)) return null;
  return first === 'exec' ? words.slice(1) : words;
};
