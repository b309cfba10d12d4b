import type { LineageMemory } from '../collect/collector.ts';
import { stateDirectory } from '../observe/state/state-directory.ts';
import { LineageReader } from '../remember/lineage-reader.ts';

/** What guard and ended sessions wrote down on this machine; looked for at the first look, not before. */
export const rememberedLineage = (env: NodeJS.ProcessEnv): LineageMemory => {
  let reader: LineageReader | null = null;
  return {
    recall(look) {
      reader ??= new LineageReader(stateDirectory(env));
      return reader.recall(look);
    },
  };
};
