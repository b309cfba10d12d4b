import { MASK } from './secret-name.ts';

/** Programs whose short options take a password, glued to the letter or as the next word. */
interface Rule {
  readonly programs: RegExp;
  /** `-pPASS`. */
  readonly glued: RegExp | null;
  /** `-p PASS`. */
  readonly before: ReadonlySet<string>;
  /** Only together with this word. */
  readonly needs: string | null;
}

const rule = (
  programs: string,
  glued: RegExp | null,
  before: readonly string[],
  needs: string | null = null,
): Rule => ({ programs: new RegExp(`^(?:.*/)?(?:${programs})$`), glued, before: new Set(before), needs });

const RULES: readonly Rule[] = [
  rule('sshpass', /^-p(?=.)/, ['-p']),
  // `mysql -p NAME` asks for the password and names a database.
  rule('(?:mysql|mariadb)[\\w-]*', /^-p(?=.)/, []),
  rule('mongo|mongosh|mongodump|mongorestore', null, ['-p']),
  // Elsewhere its -p is a port.
  rule('docker|podman|nerdctl', /^-p(?=.)/, ['-p'], 'login'),
  rule('redis-cli|keydb-cli|valkey-cli', /^-a(?=.)/, ['-a']),
  rule('ldap\\w+', /^-w(?=.)/, ['-w']),
  rule('7z[ar]?|rar|unrar', /^-h?p(?=.)/, []),
  rule('zip|unzip', /^-P(?=.)/, ['-P']),
  rule('xfreerdp3?|wlfreerdp', /^\/p:(?=.)/, []),
  rule('sqlcmd|bcp|ipmitool', /^-P(?=.)/, ['-P']),
];

/** Without one of these none of the rules applies. */
export const PASSWORD_PROGRAMS =
  /sshpass|mysql|mariadb|mongo|docker|podman|nerdctl|redis-cli|keydb-cli|valkey-cli|ldap|7z|rar|zip|freerdp|sqlcmd|bcp|ipmitool/;

const ENDS_COMMAND = /^[&|;]+$/;

/** The same in a script: its words, the gaps between them, and what is neither. */
export const maskPasswordFlagsIn = (script: string, word: string): string => {
  if (!PASSWORD_PROGRAMS.test(script)) return script;
  const parts = script.match(new RegExp(String.raw`${word}|\s+|[\s\S]`, 'g')) ?? [];
  const at = [...parts.keys()].filter(index => (parts[index] ?? '').trim() !== '');
  const words = at.map(index => parts[index] ?? '');
  maskPasswordFlags(words);
  for (const [n, index] of at.entries()) parts[index] = words[n] ?? '';
  return parts.join('');
};

/** Masks, in place, what a known program takes as a password in its short options. */
export const maskPasswordFlags = (words: string[]): void => {
  if (!words.some(word => PASSWORD_PROGRAMS.test(word))) return;
  let active: Rule | undefined;
  for (const [at, word] of words.entries()) {
    const found = RULES.find(({ programs }) => programs.test(word));
    if (found !== undefined && (found.needs === null || words.includes(found.needs))) {
      active = found;
      continue;
    }
    if (ENDS_COMMAND.test(word)) active = undefined;
    if (active === undefined || word === MASK) continue;
    const glued = active.glued?.exec(word)?.[0];
    if (glued !== undefined) words[at] = `${glued}${MASK}`;
    else if (active.before.has(words[at - 1] ?? '')) words[at] = MASK;
  }
};
