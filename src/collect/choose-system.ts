import { procfsSystem } from '../observe/procfs/system.ts';
import type { System } from '../observe/system.ts';
import { UsageError } from './config.ts';

export type PlatformChoice = 'auto' | 'procfs' | 'portable';

export interface SystemChoice {
  readonly platform: PlatformChoice;
  /** A recorded table (`-` is standard input) instead of this machine. */
  readonly from: string | undefined;
}

/** The backend for this run. Only the one that is needed gets loaded. */
export const chooseSystem = async ({ platform, from }: SystemChoice): Promise<System> => {
  if (from !== undefined) {
    const { loadRecorded, recordedSystem } = await import('../observe/recorded/index.ts');
    const loaded = await loadRecorded(from);
    if (!loaded.ok) throw new UsageError(loaded.message);
    return recordedSystem(loaded.table);
  }
  if (platform === 'procfs' || (platform === 'auto' && process.platform === 'linux')) return procfsSystem();
  const { portableSystem } = await import('../observe/portable/system.ts');
  return portableSystem();
};
