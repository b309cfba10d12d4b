import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Node, type Program, parseSync, Visitor } from 'oxc-parser';

/**
 * The import graph as it is written, types included. dependency-cruiser would draw it too, but it reads TypeScript
 * through an older compiler's interface (TypeScript 7 has none) or through swc, where it does not know TSX.
 */

/** One file of the house: its path below src/, what it imports, and its syntax tree. */
export interface Source {
  readonly file: string;
  /** Paths below src/ for its own files, package names for the rest. */
  readonly imports: readonly string[];
  /** Where an import's target is not written as a plain string, so that nobody can tell what it is. */
  readonly hidden: readonly string[];
  readonly program: Program;
  readonly text: string;
}

const literal = (node: Node): string | null =>
  node.type === 'Literal' && typeof node.value === 'string' ? node.value : null;

const parse = (file: string, text: string): Source => {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const imports: string[] = [];
  const hidden: string[] = [];
  const add = (source: Node | null): void => {
    if (source === null) return;
    const what = literal(source);
    if (what === null) hidden.push(text.slice(source.start, source.end));
    else imports.push(what.startsWith('.') ? normalize(join(dirname(file), what)) : what);
  };
  new Visitor({
    ImportDeclaration: node => add(node.source),
    ExportNamedDeclaration: node => add(node.source),
    ExportAllDeclaration: node => add(node.source),
    ImportExpression: node => add(node.source),
    TSImportType: node => add(node.source),
  }).visit(program);
  return { file, imports, hidden, program, text };
};

/** From texts by path below src/: what a test plants. */
export const sourcesFrom = (texts: Readonly<Record<string, string>>): readonly Source[] =>
  Object.entries(texts).map(([file, text]) => parse(file, text));

const SRC = fileURLToPath(new URL('../../src', import.meta.url));

/** The house as it stands. */
export const readSources = (): readonly Source[] =>
  readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter(file => /\.tsx?$/.test(file))
    .map(file => parse(file, readFileSync(join(SRC, file), 'utf8')));

export const roomOf = (file: string): string => file.split('/')[0]!;
