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
  format('Azure', String.raw`[\w~.]{3}\dQ~`, String.raw`[\w~.-]`, 20),
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
  format('MaxMind', String.raw`\w{6}_\w{29}_mm`, WORD, 0),
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
  format('Telegram', String.raw`\d{6,12}:A`, DASHED, 30),
  format('Terraform', String.raw`\w{14}\.atlasv1\.`, DASHED, 24),
  format('Twilio', 'SK', HEX, 32),
  format('Typeform', 'tfp_', DOTTED, 24),
  format('Vercel', 'vc[pkar]_', WORD, 20),
  format('Yandex', String.raw`t1\.[A-Z0-9a-z_-]+[=]{0,2}\.`, DASHED, 24),
];

const beginOf = ({ begins, anywhere }: Format): string =>
  `${anywhere === true ? '' : '(?<![A-Za-z0-9])'}(?:${begins})`;

export const SECRET_FORMATS: readonly RegExp[] = FORMATS.map(
  entry => new RegExp(`${beginOf(entry)}${entry.of}`, 'g'),
);

/** Without a beginning none of them is there: one small pattern to compile instead of eighty at every start. */
export const SECRET_BEGINNING = new RegExp(FORMATS.map(beginOf).join('|'));

/** What one of them, or a JSON web token, begins with: without it none is there. */
export const BEGINS_LIKE_A_SECRET = ['eyJ', ...FORMATS.map(({ begins }) => begins)].join('|');

/** Without one of these there is none of the links below. */
export const SECRET_LINK_WORD = /hook|ifttt|telegram|googleapis/i;

/** Links that let whoever knows them in: everything after the part that names the service. */
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
