/**
 * Formats by which issued secrets are known wherever they stand. What is issued by whom in which form is kept up to date
 * by the gitleaks project in its default rules (gitleaks.io; MIT licence, copyright 2019 Zachary Rice); here is what
 * tells each apart: how it begins, what it is made of, and how much of that is certain to be no ordinary word. They are
 * looser than a scanner's: a masked word costs a glance, a shown secret costs the secret.
 */
interface Format {
  readonly issuer: string;
  /** How it begins; a pattern. */
  readonly begins: string;
  /** What follows, and how much of it at least. */
  readonly of: string;
  /** It may stand in the middle of a word: the beginning is never part of one. */
  readonly anywhere?: true;
  /** What it cannot do without and is found faster than a beginning of any letters; a pattern. */
  readonly holds?: string;
}

const WORD = String.raw`\w`;
const DASHED = String.raw`[\w-]`;
const DOTTED = String.raw`[\w.~+/=-]`;
const HEX = '[a-f0-9]';

const format = (issuer: string, begins: string, made: string, least: number, anywhere?: true): Format => ({
  issuer,
  begins,
  of: `${made}{${least},}`,
  ...(anywhere === undefined ? {} : { anywhere }),
});

const FORMATS: readonly Format[] = [
  format('1Password', 'A3-[A-Z0-9]{6}-', '[A-Z0-9-]', 20),
  format('1Password', 'ops_eyJ', DOTTED, 20),
  format('Adobe', 'p8e-', WORD, 24),
  format('age', 'AGE-SECRET-KEY-1', '[A-Z0-9]', 8, true),
  format('Alibaba', 'LTAI', '[A-Za-z0-9]', 16),
  format('Anthropic', 'sk-ant-', DASHED, 4, true),
  format('Artifactory', 'AKCp', '[A-Za-z0-9]', 40),
  format('Atlassian', 'ATATT3', DOTTED, 20),
  format('AWS', '(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)', '[A-Z0-9]', 12, true),
  format('AWS Bedrock', 'ABSK', '[A-Za-z0-9+/=]', 60),
  { ...format('Azure', String.raw`[\w~.]{3}\dQ~`, String.raw`[\w~.-]`, 20), holds: 'Q~' },
  format('Clojars', 'CLOJARS_', WORD, 20),
  format('Cloudflare', String.raw`v1\.0-`, '[a-f0-9-]', 40),
  format('Databricks', 'dapi', HEX, 32),
  format('DigitalOcean', 'do[oprt]_v1_', HEX, 20),
  format('Doppler', String.raw`dp\.(?:pt|st|ct|sa|scim|audit)\.`, DOTTED, 20),
  format('Duffel', 'duffel_(?:test|live)_', DASHED, 16),
  format('Dynatrace', String.raw`dt0[a-z]\d\d\.`, DOTTED, 20),
  format('EasyPost', 'EZ[AT]K', WORD, 30),
  format('Facebook', 'EAA[MC]', WORD, 60),
  format('Figma', 'fig[dou]_', DASHED, 16),
  format('Flutterwave', 'FLW(?:PUB|SEC)K', DASHED, 12),
  format('Fly', 'f[om][12]_', DOTTED, 30),
  format('Frame.io', 'fio-u-', DASHED, 24),
  format('GitHub', 'gh[pousr]_', WORD, 8, true),
  format('GitHub', 'github_pat_', WORD, 8, true),
  format(
    'GitLab',
    '(?:glpat|gldt|glrt|glptt|glcbt|glft|glimt|glagent|gloas|glsoat|glffct)-',
    DASHED,
    8,
    true,
  ),
  format('GitLab', 'GR1348941', DASHED, 12),
  format('Google', 'AIza', DASHED, 30, true),
  format('Google', 'GOCSPX-', DASHED, 12),
  format('Google', String.raw`ya29\.`, DASHED, 8),
  format('Google', '1//0', DASHED, 24),
  format('Grafana', 'gl(?:c|sa)_', DOTTED, 24),
  format('Groq, Hugging Face, npm, Perplexity', '(?:gsk|hf|api_org|npm|pplx)[_-]', WORD, 24),
  format('HashiCorp', String.raw`hv[sbr]\.`, DASHED, 16),
  format('Heroku', 'HRKU-', DASHED, 24),
  format('Infracost', 'ico-', WORD, 24),
  format('LangSmith', 'lsv2_(?:pt|sk)_', WORD, 16),
  format('Linear', 'lin_(?:api|oauth)_', WORD, 16),
  format('Mailgun', '(?:pub)?key-', HEX, 32),
  { ...format('MaxMind', String.raw`\w{6}_\w{29}_mm`, WORD, 0), holds: '_mm' },
  format('New Relic', 'NR(?:AK|JS|II)-', DASHED, 16),
  format('Notion', 'ntn_', WORD, 24),
  format('NuGet', 'oy2[a-z0-9]', '[a-z0-9]', 38),
  format('Octopus', 'API-', '[A-Z0-9]', 26),
  format('OpenAI and many others', 'sk[-_]', DASHED, 16),
  format('OpenShift', 'sha256~', DASHED, 24),
  format('PlanetScale', 'pscale_(?:tkn|pw|oauth|app)_', DOTTED, 20),
  format('Postman', 'PMAK-', DASHED, 20),
  format('Prefect, Pulumi, Readme', '(?:pnu_|pul-|rdme_)', WORD, 24),
  format('private key', '-----BEGIN [A-Z ]*PRIVATE KEY', String.raw`[\s\S]`, 0, true),
  format('PyPI', 'pypi-', DASHED, 24),
  format('Replicate, xAI, Tavily', '(?:r8_|xai-|tvly-)', DASHED, 20),
  format('RubyGems', 'rubygems_', WORD, 24),
  format('Sendgrid', String.raw`SG\.`, String.raw`[\w.-]`, 16),
  format('Sendinblue', 'xkeysib-', DASHED, 20),
  format('Sentry', 'sntry[su]_', DOTTED, 20),
  format('Shippo', 'shippo_(?:live|test)_', WORD, 20),
  format('Shopify', 'shp(?:at|ca|pa|ss)_', WORD, 16),
  format('Slack', 'xox[abeoprs]-', DASHED, 6, true),
  format('Slack', String.raw`xapp-\d-`, DASHED, 12),
  format('Sourcegraph', 'sgp_', WORD, 32),
  format('Square', '(?:sq0(?:atp|csp|idp)-|EAAA)', DASHED, 22),
  format('Stripe', '(?:sk|rk|pk)_(?:live|test|prod)_', WORD, 6),
  format('Stripe', 'whsec_', WORD, 16),
  format('Supabase', 'sb[ps]?_(?:secret_)?', WORD, 24),
  format('Tailscale', 'tskey-[a-z]+-', DASHED, 8),
  { ...format('Telegram', String.raw`\d{6,12}:A`, DASHED, 30), holds: String.raw`\d:A` },
  { ...format('Terraform', String.raw`\w{14}\.atlasv1\.`, DASHED, 24), holds: String.raw`\.atlasv1` },
  { ...format('Twilio', 'SK', HEX, 32), holds: `SK${HEX}{8}` },
  format('Typeform', 'tfp_', DOTTED, 24),
  format('Vercel', 'vc[pkar]_', WORD, 20),
  { ...format('Yandex', String.raw`t1\.[A-Z0-9a-z_-]+[=]{0,2}\.`, DASHED, 24), holds: String.raw`t1\.` },
];

const beginOf = ({ begins, anywhere }: Format): string =>
  `${anywhere === true ? '' : '(?<![A-Za-z0-9])'}(?:${begins})`;

export const SECRET_FORMATS: readonly RegExp[] = FORMATS.map(
  entry => new RegExp(`${beginOf(entry)}${entry.of}`, 'g'),
);

/** Without one of these none of them is there: one small pattern to compile instead of eighty at every start. */
export const SECRET_BEGINNING = new RegExp(FORMATS.map(entry => entry.holds ?? beginOf(entry)).join('|'));

/** Without one of these there is none of the links below. */
export const SECRET_LINK_WORD = /hook|ifttt|telegram|googleapis/i;

/** Links that give access to anyone who has them: everything after the name of the service. */
export const SECRET_LINKS: readonly RegExp[] = [
  /(hooks\.slack\.com\/(?:services|workflows|triggers)\/)[^\s"'?#]+/gi,
  /(discord(?:app)?\.com\/api\/(?:v\d+\/)?webhooks\/)[^\s"'?#]+/gi,
  /(\.webhook\.office\.com\/)[^\s"'?#]+/gi,
  /(outlook\.office(?:365)?\.com\/webhook\/)[^\s"'?#]+/gi,
  /(hooks\.zapier\.com\/hooks\/(?:catch|standard)\/)[^\s"'?#]+/gi,
  /(maker\.ifttt\.com\/(?:use|trigger)\/)[^\s"']+/gi,
  /(api\.telegram\.org\/(?:file\/)?bot)[^\s"'/]+/gi,
  /(chat\.googleapis\.com\/v1\/spaces\/[\w-]+\/messages\?)[^\s"']+/gi,
  /(\/\/[^\s"'/]{1,200}\/(?:[^\s"'?#]{0,200}\/)?webhooks?\/)[^\s"'?#]{8,}/gi,
];

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
const NAME_PART = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g;
/** Every word above contains one of these: rules most names out without splitting them. */
const HINT = /token|secret|pass|pwd|auth|bearer|key|cred|cookie|jwt|pat|signature/i;

/** Does the value of this flag, variable, header or JSON key look like a secret? Names are split into words, so `--author` and `tokenizer` do not. */
export const isSecretName = (name: string, value = ''): boolean => {
  if (!HINT.test(name) || name.length > 200) return false;
  const words = name.match(NAME_PART)?.map(word => word.toLowerCase()) ?? [];
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

/** Without one of these none of the rules applies. Names by themselves: `rar` is in every `library`. */
export const PASSWORD_PROGRAMS =
  /(?<![\w.-])(?:sshpass|mysql|mariadb|mongo|docker|podman|nerdctl|redis-cli|keydb-cli|valkey-cli|ldap|xfreerdp|wlfreerdp|sqlcmd|bcp|ipmitool|(?:7z[ar]?|(?:un)?rar|(?:un)?zip)(?![\w-]))/;

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
