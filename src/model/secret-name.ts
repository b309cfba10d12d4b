/** What stands in the place of a secret. */
export const MASK = '***';

/** Whole words of a name that make its value a secret. */
const SECRET_WORDS = new Set(
  `token secret secrets password passwd passphrase passcode pwd auth oauth authorization bearer
   apikey authkey secretkey accesskey privatekey masterkey signingkey sshkey encryptionkey
   credential credentials creds cookie cookies jwt pat signature`.split(/\s+/),
);

/** `PGPASSWORD`, `GHTOKEN`, `clientsecret`: words glued together without a separator. */
const SECRET_ENDING = /(?:password|passwd|passphrase|token|secret|apikey|credentials?)$/;

/** Secret as the last word (`--key`, `DB_PASS`), not in `--key-bindings` or `--pass-through`. */
const SECRET_LAST = new Set(['key', 'pass']);
const BEFORE_KEY = new Set(['api', 'access', 'secret', 'private', 'signing', 'encryption', 'ssh', 'license']);

/** Plurals that mostly count (`--max-thinking-tokens 0`): secret only when the value is no number. */
const COUNTABLE = new Set(['tokens', 'keys']);

/** A last word that says the value only talks about a secret. */
const ABOUT = new Set(
  `limit count budget size length window timeout ttl expiry file path dir mode type method
   url uri endpoint provider server port host index`.split(/\s+/),
);

const DIGITS = /^\d+$/;
const NUMBER = /^[\d.,_]*$/;
const WORD = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g;
/** Every word above contains one of these: rules most names out without splitting them. */
const HINT = /token|secret|pass|pwd|auth|bearer|key|cred|cookie|jwt|pat|signature/i;

/** Does the value of this flag, variable, header or JSON key look like a secret? Names are split into words, so `--author` and `tokenizer` do not. */
export const isSecretName = (name: string, value = ''): boolean => {
  if (!HINT.test(name) || name.length > 200) return false;
  const words = name.match(WORD)?.map(word => word.toLowerCase()) ?? [];
  if (words.length === 0 || words[0] === 'no' || ABOUT.has(words.at(-1)!)) return false;
  // The shell's working directory, not a password.
  if (words.length === 1 && words[0] === 'pwd') return false;
  const last = words.findLastIndex(word => !DIGITS.test(word));
  return words.some(
    (word, at) =>
      SECRET_WORDS.has(word) ||
      SECRET_ENDING.test(word) ||
      (SECRET_LAST.has(word) && (at === last || BEFORE_KEY.has(words[at - 1] ?? ''))) ||
      (COUNTABLE.has(word) && !NUMBER.test(value.trim())),
  );
};
