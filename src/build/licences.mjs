/** Whose work is in the bundle, and on what terms: each asks that its licence goes along. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** `node_modules/@scope/name/x.js` -> `node_modules/@scope/name`, of nested ones the innermost. */
const packageOf = input =>
  /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input.replace(/^[\w-]+:/, ''))?.[0] ?? null;

const licenceText = directory => {
  const name = readdirSync(directory).find(file => /^(?:licen[cs]e|copying)(?:[.-].*)?$/i.test(file));
  return name === undefined ? null : readFileSync(join(directory, name), 'utf8').trim();
};

const describe = directory => {
  const { name, version, license, author } = JSON.parse(
    readFileSync(join(directory, 'package.json'), 'utf8'),
  );
  const by = typeof author === 'string' ? author : author?.name;
  const text = licenceText(directory) ?? `Licence: ${license}${by === undefined ? '' : `, by ${by}`}`;
  return { title: `${name} ${version} (${license})`, text };
};

/** One section per package that esbuild took something from, by name. */
export const licencesOf = (root, metafiles) => {
  const directories = new Set(
    metafiles
      .flatMap(({ inputs }) => Object.keys(inputs).map(packageOf))
      .filter(directory => directory !== null),
  );
  const parts = [...directories]
    .map(directory => resolve(root, directory))
    .filter(directory => existsSync(join(directory, 'package.json')))
    .map(describe)
    .sort((a, b) => (a.title < b.title ? -1 : 1));
  const rule = '-'.repeat(80);
  return `reaptop contains parts of these packages.\n${parts.map(({ title, text }) => `\n${rule}\n${title}\n\n${text}\n`).join('')}`;
};
