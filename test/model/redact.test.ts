import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redactArgv, redactWord, safeArgv, safePath } from '../../src/model/redact.ts';

const redacted: [string[], string[]][] = [
  [
    ['x', '--token', 'abc'],
    ['x', '--token', '***'],
  ],
  [
    ['x', '--token=abc;d e'],
    ['x', '--token=***'],
  ],
  // A word that only talks about a secret, but not as the last one of the name.
  [
    ['x', '--server-token', 'abc', '--db-url-password', 'def', 'MCP_SERVER_TOKEN=ghi'],
    ['x', '--server-token', '***', '--db-url-password', '***', 'MCP_SERVER_TOKEN=***'],
  ],
  [
    ['x', '--api-key', 'abc', '--port', '80'],
    ['x', '--api-key', '***', '--port', '80'],
  ],
  [
    ['x', '-password', 'p'],
    ['x', '-password', '***'],
  ],
  [
    ['curl', '-H', 'Authorization: Bearer abc'],
    ['curl', '-H', 'Authorization: ***'],
  ],
  [
    ['curl', '-H', 'X-Custom: abc'],
    ['curl', '-H', 'X-Custom: ***'],
  ],
  [
    ['curl', '-H', 'Authorization:', 'Bearer', 'abc', 'url'],
    ['curl', '-H', 'Authorization:', 'Bearer', '***', 'url'],
  ],
  [
    ['curl', '-u', 'me:pass'],
    ['curl', '-u', 'me:***'],
  ],
  [
    ['mcp-remote', 'http://x', '--header=Authorization: Bearer abc'],
    ['mcp-remote', 'http://x', '--header=Authorization: ***'],
  ],
  [
    ['env', 'GITHUB_TOKEN=abc def', 'x'],
    ['env', 'GITHUB_TOKEN=***', 'x'],
  ],
  [
    ['docker', '-e', 'OPENAI_API_KEY=abc'],
    ['docker', '-e', 'OPENAI_API_KEY=***'],
  ],
  [
    ['docker', '--env=PGPASSWORD=abc'],
    ['docker', '--env=PGPASSWORD=***'],
  ],
  [
    ['git', 'clone', 'https://u:p@ss@h/r'],
    ['git', 'clone', 'https://***@h/r'],
  ],
  [
    ['git', 'clone', 'https://tok@h/r'],
    ['git', 'clone', 'https://***@h/r'],
  ],
  [
    ['x', 'https://h/p?a=1&access_token=abc&key=d#f'],
    ['x', 'https://h/p?a=1&access_token=***&key=***'],
  ],
  [
    ['sh', '-c', `curl -H "Authorization: Bearer abc" http://h`],
    ['sh', '-c', 'curl -H "Authorization: ***" http://h'],
  ],
  [
    ['sh', '-c', 'FOO_TOKEN=abc lean-lsp-mcp --x'],
    ['sh', '-c', 'FOO_TOKEN=*** lean-lsp-mcp --x'],
  ],
  [
    ['sh', '-c', "run --password 'a b' --x"],
    ['sh', '-c', 'run --password *** --x'],
  ],
  [
    ['sh', '-c', 'curl -u me:pw http://h'],
    ['sh', '-c', 'curl -u me:*** http://h'],
  ],
  [
    [
      'claude',
      '--mcp-config',
      '{"mcpServers":{"a":{"command":"npx","args":["--token","abc"],"env":{"A":"b"}}}}',
    ],
    [
      'claude',
      '--mcp-config',
      '{"mcpServers":{"a":{"command":"npx","args":["--token","***"],"env":{"A":"***"}}}}',
    ],
  ],
  [
    ['claude', '--settings', '{"a":{"apiKey":"b"},"model":"opus"}'],
    ['claude', '--settings', '{"a":{"apiKey":"***"},"model":"opus"}'],
  ],
  [
    ['claude', '--settings', '{"a":"b"'],
    ['claude', '--settings', '***'],
  ],
  [
    ['claude', '--settings={broken'],
    ['claude', '--settings=***'],
  ],
  [
    ['sh', '-c', `claude --settings '{"env":{"A":"b"}}' -p hi`],
    ['sh', '-c', `claude --settings '{"env":{"A":"***"}}' -p hi`],
  ],
  [
    ['x', 'use sk-ant-api03-abcdef now'],
    ['x', 'use *** now'],
  ],
  [
    ['x', 'ghp_abcdefghij0123456789'],
    ['x', '***'],
  ],
];

const kept: string[][] = [
  ['claude', '--session-id', '0b9fe6a3-1b2c-4c9e-8d4f-0123456789ab', '--resume', 'abc'],
  ['claude', '--max-thinking-tokens', '0', '--disallowedTools', 'Bash,Read,Write'],
  ['claude', '--settings', '/home/me/.claude/settings.json', '--mcp-config', '.mcp.json'],
  ['claude', '--settings', '{"model":"opus", "hooks":{}}'],
  ['x', '--keyboard', 'us', '--author', 'me', '--authority', 'x', 'tokenizer', '--tokenizer', 'bpe'],
  ['x', '--no-auth', 'file', '--max-tokens=4096', 'monkey', '--key-bindings', 'vi', '--pass-through', 'x'],
  ['npx', '-y', '@playwright/mcp@latest', 'http://localhost:3000/@vite/client', 'git@github.com:a/b.git'],
  ['docker', 'run', '-u', '1000:1000', 'ssh://git@host/x', 'PWD=/home/me'],
  ['gh', 'auth', 'token'],
  ['awk', '{print $1}', 'disk-usage-of-the-whole-machine', 'task-runner-with-a-long-name'],
  ['x', '--auth', '--verbose', '--token-file', '/run/x', '--token-limit', '9'],
  ['sh', '-c', 'lake build && echo "done: ok" | tee log'],
  ['lean', '--worker', 'file:///home/me/Token.lean'],
  ['docker', 'run', '-p', '8080:80', 'redis'],
  ['mysql', '-p', 'database', '-u', 'me'],
  ['sh', '-c', 'set -e; set -x; cd work && lake build'],
  ['git', 'commit', '-m', 'hooks: keep order = first, then last'],
  ['x', 'https://example.com/docs/webhooks', 'SKIP=1', 'api-explorer', 'keyboard = us'],
  ['python', '-m', 'pip', 'install', 'pypi-simple', 'hf-transfer'],
  ['x', '--transport=streamable-http', 'http://[::1]:3000/@x', 'https://h:8080/a@b'],
];

describe('redactArgv', () => {
  test.each(redacted)('%j', (argv, expected) => expect(redactArgv(argv)).toEqual(expected));
  test.each(kept.map(argv => [argv]))('keeps %j', argv => expect(redactArgv(argv)).toEqual(argv));
});

const LONG = 'abcDEF0123456789abcDEF0123456789abcdef01';
const HEX = '0123456789abcdef0123456789abcdef';

/** Shapes that a reader of argv, session names or directories must not see; `V` is the secret. */
const SHAPES: readonly (readonly string[])[] = [
  ['fish', '-c', 'set -x API_TOKEN V; run'],
  ['fish', '-c', "set -gx OPENAI_API_KEY 'V'"],
  ['fish', '-c', 'set', '-x', 'API_TOKEN', 'V'],
  ['csh', '-c', 'setenv DB_PASSWORD V'],
  ['x', 'api_key = "V"'],
  ['x', 'api_key', '=', 'V'],
  ['x', "secret := 'V'"],
  ['sh', '-c', 'password V'],
  ['x', 'password', 'V'],
  ['sh', '-c', 'echo "machine h login me password V" > ~/.netrc'],
  ['mysql', '-u', 'root', '-pV', 'db'],
  ['/usr/bin/mysqldump', '-pV'],
  ['sh', '-c', "mariadb -u root -p'V' db"],
  ['sshpass', '-p', 'V', 'ssh', 'host'],
  ['sshpass', '-pV', 'ssh', 'host'],
  ['bash', '-c', 'sshpass -p V scp a b'],
  ['redis-cli', '-a', 'V'],
  ['docker', 'login', '-u', 'me', '-p', 'V'],
  ['ldapsearch', '-x', '-w', 'V'],
  ['unzip', '-P', 'V', 'a.zip'],
  ['7z', 'x', '-pV', 'a.7z'],
  ['curl', 'https://hooks.slack.com/services/V'],
  ['curl', '-d', '{}', 'https://discord.com/api/webhooks/123/V'],
  ['curl', 'https://corp.webhook.office.com/webhookb2/V'],
  ['curl', 'https://hooks.zapier.com/hooks/catch/1/V'],
  ['curl', 'https://ci.example.com/github/webhook/V'],
  ['curl', 'https://api.telegram.org/botV/sendMessage'],
];

/** Secrets that are known by their own form, wherever they stand. */
const FORMS: readonly string[] = [
  `AGE-SECRET-KEY-1${LONG.toUpperCase()}`,
  `rk_live_${LONG}`,
  'rk_live_abcdefgh',
  `sk_test_${LONG}`,
  `whsec_${LONG}`,
  `SG.${LONG}.${LONG}`,
  `ya29.${LONG}`,
  `GOCSPX-${LONG}`,
  `glptt-${LONG}`,
  `xapp-1-${LONG}`,
  `shpat_${HEX}`,
  `dop_v1_${HEX}`,
  `hvs.${LONG}`,
  `dapi${HEX}`,
  `npm_${LONG}`,
  `pypi-${LONG}`,
  `hf_${LONG}`,
  `lin_api_${LONG}`,
  `sntrys_${LONG}`,
  `tskey-auth-${LONG}`,
  `PMAK-${LONG}`,
  `figd_${LONG}`,
  `ATATT3${LONG}`,
  `glsa_${LONG}`,
  `123456789:AA${LONG.slice(0, 33)}`,
  `key-${HEX}`,
  `SK${HEX}`,
  `NRAK-${LONG}`,
  `sk-proj-${LONG}`,
  `xai-${LONG}`,
];

describe('secrets that have leaked before', () => {
  const secret = 'hunter2xyzzy';
  test.each(SHAPES.map(shape => [shape]))('%j', shape => {
    const argv = shape.map(word => word.replace('V', secret));
    const shown = redactArgv(argv).join(' ');
    expect(shown).not.toContain(secret);
    expect(shown).toContain('***');
  });

  test.each(FORMS)('%s', form => {
    for (const argv of [
      ['x', form],
      ['x', `--opt=${form}`],
      ['sh', '-c', `run '${form}' && ls`],
    ]) {
      const shown = redactArgv(argv).join(' ');
      expect(shown).not.toContain(form.slice(-8));
    }
    expect(redactWord(`session ${form}`)).toBe('session ***');
  });

  test('in a path only what a name in it calls a secret: the rest must lead where it leads', () => {
    expect(safePath('/work/token=hunter2/src')).toBe('/work/token=***/src');
    expect(safePath('/work/a=b/sk-learn-examples-of-the-year')).toBe(
      '/work/a=b/sk-learn-examples-of-the-year',
    );
    expect(safePath('/work/x\u001b[2J')).toBe('/work/x\\x1b[2J');
  });
});

/** Positions a secret may stand in, in an argv and in scripts. */
const places: ((secret: string) => string[])[] = [
  s => ['x', '--token', s],
  s => ['x', `--api-key=${s}`],
  s => ['x', '--auth-token', s, 'tail'],
  s => ['x', `--client-secret=${s}`],
  s => ['x', `GITHUB_TOKEN=${s}`],
  s => ['x', '-e', `MY_PASSWORD=${s}`],
  s => ['curl', '-H', `Authorization: Bearer ${s}`],
  s => ['curl', '-H', `X-Api-Key: ${s}`],
  s => ['curl', '-H', 'Authorization:', 'Bearer', s],
  s => ['curl', `--header=Cookie: ${s}`],
  s => ['x', `https://me:${s}@host/p`],
  s => ['x', `https://host/p?access_token=${s}&x=1`],
  s => ['x', `https://host/p?x=1&key=${s}`],
  s => ['claude', '--settings', JSON.stringify({ deep: [{ er: { apiKey: s } }] })],
  s => ['claude', `--settings=${JSON.stringify({ env: { ANY: s } })}`],
  s => ['claude', '--mcp-config', JSON.stringify({ m: { headers: { X: s }, args: ['--token', s] } })],
  s => ['claude', '--settings', `{"env":{"A":"${s}"`],
  s => ['claude', '--settings', JSON.stringify({ env: { A: s } }).slice(0, -2)],
  s => ['x', '--env', JSON.stringify({ ANY: s })],
  s => ['x', JSON.stringify({ password: s })],
  s => ['x', JSON.stringify([{ env: { list: [s, { n: s }] } }])],
  s => ['x', JSON.stringify(JSON.stringify({ token: s }))],
  s => ['sh', '-c', `curl -H "Authorization: Bearer ${s}" http://h`],
  s => ['sh', '-c', `curl -H 'X-Auth-Token: ${s}' http://h; ls`],
  s => ['sh', '-c', `export A_TOKEN="${s}"; run`],
  s => ['sh', '-c', `A_SECRET=${s} run --x`],
  s => ['sh', '-c', `run --password ${s} && ls`],
  s => ['sh', '-c', `claude --settings '${JSON.stringify({ env: { A: s } })}' -p x`],
  s => ['sh', '-c', `psql postgres://me:${s}@db/x`],
  s => ['sh', '-c', `echo {"env": {"A": "${s}"`],
  s => ['x', `sk-ant-${s}`, `sk-${s}`, `ghp_${s}`, `github_pat_${s}`, `xoxb-${s}`, `AKIA${s.toUpperCase()}`],
  s => ['x', `eyJ${s}.${s}.${s}`, `prefix eyJ${s}.${s}.${s} suffix`],
];
const WORDS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const secretText = fc.string({
  unit: fc.constantFrom(...WORDS),
  minLength: 20,
  maxLength: 40,
});
const nasty = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(
      fc.constantFrom(
        '--token',
        '=',
        ' ',
        '"',
        "'",
        '{',
        '}',
        '[',
        ']',
        ':',
        '//',
        '@',
        'Bearer ',
        '\\',
        'env',
        '-H',
        'a',
        'key',
        ',',
        'sk-',
        '&',
        '?',
        '***',
        'curl -u ',
      ),
      { maxLength: 25 },
    )
    .map(parts => parts.join('')),
);

describe('a program that takes a password in a short option', () => {
  test.each([
    ['7z', '-phunter2'],
    ['7za', '-phunter2'],
    ['/usr/bin/7zr', '-phunter2'],
    ['rar', '-hphunter2'],
    ['unrar', '-phunter2'],
    ['zip', '-Phunter2'],
    ['/opt/x/unzip', '-Phunter2'],
    ['mysqldump', '-phunter2'],
    ['mariadb-admin', '-phunter2'],
    ['xfreerdp3', '/p:hunter2'],
    ['wlfreerdp', '/p:hunter2'],
    ['ldapsearch', '-whunter2'],
    ['mongosh', '-p hunter2'],
    ['sqlcmd', '-P hunter2'],
  ])('%s %s', (program, flag) => {
    expect(redactArgv([program, ...flag.split(' ')]).join(' ')).not.toContain('hunter2');
    expect(redactArgv(['sh', '-c', `cd x; ${program} ${flag} y`]).join(' ')).not.toContain('hunter2');
    expect(redactWord(`cd x && ${program} ${flag} y`)).not.toContain('hunter2');
  });

  test('is not seen in the middle of other words', () => {
    const words = ['node', '/Users/me/Library/zipper/docker-x/librarian', '-phunter2'];
    expect(redactArgv(words)).toEqual(words);
  });
});

describe('whatever the argument', () => {
  test.each(places.map((place, index) => [place('SECRET').join(' '), index] as const))(
    'a secret in %j never appears',
    (_, index) => {
      fc.assert(
        fc.property(secretText, secret => {
          const out = redactArgv(places[index]!(secret)).join('\n').toLowerCase();
          expect(out).not.toContain(secret.toLowerCase());
        }),
        { numRuns: 50 },
      );
    },
  );

  test('quotes, braces and shell characters inside a secret do not let it out', () => {
    const tricky = fc
      .array(fc.constantFrom(...`ab1"'{}[]&;|<>()$ \\/@:?#,=`), {
        maxLength: 12,
      })
      .map(parts => `zq${parts.join('')}qz`);
    fc.assert(
      fc.property(tricky, secret => {
        for (const argv of [
          ['x', '--token', secret],
          ['x', `--password=${secret}`],
          ['x', `A_TOKEN=${secret}`],
          ['claude', '--settings', JSON.stringify({ env: { A: secret }, apiKey: secret })],
          ['x', '-H', `Authorization: ${secret}`],
        ])
          expect(redactArgv(argv).join('\n')).not.toMatch(/zq|qz/);
      }),
    );
  });

  test('redacting twice changes nothing more, and nothing ever throws', () => {
    fc.assert(
      fc.property(fc.array(nasty, { maxLength: 6 }), argv => {
        const once = redactArgv(argv);
        expect(redactArgv(once)).toEqual(once);
        expect(once).toHaveLength(argv.length);
        for (const word of argv) redactWord(word);
      }),
      { numRuns: 2000 },
    );
  });

  test('a hostile argument costs time in proportion to its length', () => {
    // Most words are not looked at without such a name, and JSON that cannot be read is looked at once more.
    for (const piece of [
      '{"',
      '[[',
      '--token ',
      '"a":',
      '://a:',
      'a=',
      "'",
      '\\',
      'Authorization: ',
      '-----BEGIN ',
      'eyJaaaa.',
      '{"env":',
      'a-',
      'a',
      '//a/',
      'set -x ',
      'password ',
      'webhook/',
      'mysql -p ',
      'api_key = ',
      'api_key          ',
      't1.a',
      'SG.',
      'eyJ',
      '--a=',
      '-a=',
      '--settings=',
      '--header=',
      '://',
    ])
      for (const before of ['', 'token ', '{"token":', '--settings=', 'curl set password -a = : ']) {
        const began = performance.now();
        redactWord(`${before}${piece.repeat(200_000 / piece.length)}token`);
        expect(performance.now() - began, before + piece).toBeLessThan(3000);
      }
  });

  test('flags inside of flags: as deep as anybody means it, and then all of it is masked', () => {
    expect(redactWord('--a=--b=--token=zq')).toBe('--a=--b=--token=***');
    expect(redactWord(`${'--a='.repeat(12)}--token=zq`)).toBe(`${'--a='.repeat(5)}***`);
  });

  test.each(['-a=', '-H=', '--settings=', '--header='])('a word of nothing but %s neither', flag => {
    const began = performance.now();
    const [word] = safeArgv([`${flag.repeat(60_000 / flag.length)}user:hunter2@host`]);
    expect(performance.now() - began).toBeLessThan(500);
    expect(word).not.toContain('hunter2');
    expect(word).toContain('***');
  });

  test('a command line that is passed over as a whole is one in which no word would be masked', () => {
    const pieces = `--key --token -H -h -u --env --githubPatValue --patX PAT= --signature x-signature: basic Digest
      Negotiate bearer set setenv password = := : @ :// a b c 1 / /usr/lib/@scope/x.js user:pw@host mysql -p curl
      rar library author tokenizer --header --author eyJ sk- Basic: cookie: --max-tokens 0 none api_key _ - .`;
    const word = fc
      .array(fc.constantFrom(...pieces.split(/\s+/)), { minLength: 1, maxLength: 3 })
      .map(parts => parts.join(''));
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), words => {
        // A bracket may begin JSON: with one, each word is looked at by itself.
        expect(redactArgv(words)).toEqual(redactArgv([...words, '--', '{']).slice(0, words.length));
      }),
      { numRuns: 5000 },
    );
  });

  test('what is kept is also visible', () => {
    expect(safeArgv(['a\nb', '--token', '\x1b'])).toEqual(['a\\nb', '--token', '***']);
  });
});
