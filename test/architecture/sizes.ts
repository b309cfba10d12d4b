import type { Node } from 'oxc-parser';
import { childrenOf } from './globals.ts';
import type { Source } from './sources.ts';

/** What one screen of an editor holds. Files are as long as their idea. */
const MOST_LINES = 60;

const nameOf = (node: Node): string | null => {
  const named = node as { id?: { name?: string } | null; key?: { name?: string } };
  return named.id?.name ?? named.key?.name ?? null;
};

/** Functions that are too long to be read at once. */
export const tooLong = ({ text, program }: Source): readonly string[] => {
  const found: string[] = [];
  const lines = text.trimEnd().split('\n').length;
  // What is shorter than this many lines holds no function that is longer.
  if (lines <= MOST_LINES) return found;
  const lineAt = (offset: number): number => text.slice(0, offset).split('\n').length;
  const visit = (node: Node, name: string): void => {
    const own = nameOf(node) ?? name;
    if (/Function/.test(node.type) && text.slice(node.start, node.end).split('\n').length > MOST_LINES)
      found.push(`line ${lineAt(node.start)}: ${own} has ${lineAt(node.end) - lineAt(node.start) + 1} lines`);
    for (const [, child] of childrenOf(node)) visit(child, own);
  };
  visit(program, '');
  return found;
};
