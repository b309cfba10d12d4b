import { singleQuoted } from './completion/quoting.ts';

const PLAIN = /^[\w@%+=:,./][\w@%+=:,./-]*$/;

/** A word that a shell reads as it is: what a repository calls its files must not run when it is pasted. */
export const shellWord = (word: string): string => {
  if (PLAIN.test(word)) return word;
  // A path that begins with a dash would be read as a flag.
  return singleQuoted(word.startsWith('-') ? `./${word}` : word);
};
