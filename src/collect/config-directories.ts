import { join } from 'node:path';
import { isRunningAgent, type Tree } from '../judge/rules/tree.ts';
import { homeDirectory } from './config.ts';

/** Ours, and that of every agent found: sessions of another CLAUDE_CONFIG_DIR are live as well. */
export const configDirectories = (tree: Tree, env: NodeJS.ProcessEnv): readonly string[] => {
  const directories = new Set<string>();
  const add = (config: string | undefined, home: string | null | undefined): void => {
    if (config !== undefined && config !== '') directories.add(config);
    else if (home) directories.add(join(home, '.claude'));
  };
  add(env.CLAUDE_CONFIG_DIR, homeDirectory(env));
  for (const { facts } of tree.nodes.filter(isRunningAgent))
    add(facts.env?.CLAUDE_CONFIG_DIR, facts.env?.HOME);
  return [...directories];
};
