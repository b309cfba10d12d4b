import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config } from '../model/config.ts';
import type { ClaudeSession } from '../model/observation.ts';
import { visible } from '../model/text.ts';
import { procfsSystem } from '../observe/procfs/system.ts';
import { stateDirectory } from '../observe/state/state-directory.ts';
import type { System } from '../observe/system.ts';
import { LineageReader } from '../remember/lineage-reader.ts';
import { type AgentFiles, NO_FILES } from './agent-files.ts';
import { Collector, type LineageMemory } from './collector.ts';
import { loadConfig, loadRootSettings, UsageError } from './load-config.ts';

export interface Flags {
  readonly config?: string | undefined;
  readonly root?: readonly string[] | undefined;
  readonly platform: PlatformChoice;
  readonly from?: string | undefined;
}

export interface Prepared {
  readonly config: Config;
  readonly system: System;
  readonly collectorWith: (files: AgentFiles) => Collector;
  readonly env: NodeJS.ProcessEnv;
  /** Projects' own files that were ignored, and why. */
  readonly warnings: readonly string[];
}

/** From flags and environment to what every command works with. `memory`: of this machine, none of a recorded one. */
export const prepare = async (
  flags: Flags,
  env: NodeJS.ProcessEnv,
  cwd: string,
  memory?: LineageMemory,
): Promise<Prepared> => prepareWith(await loadConfig(env, flags.config), flags, env, cwd, memory);

/** The same with a config that is already there. */
export const prepareWith = async (
  user: Config,
  flags: Flags,
  env: NodeJS.ProcessEnv,
  cwd: string,
  memory?: LineageMemory,
  alsoLive?: readonly ClaudeSession[],
): Promise<Prepared> => {
  const recorded = flags.from !== undefined;
  const settings = await loadRootSettings(recorded ? [] : (flags.root ?? [cwd]));
  const system = await chooseSystem({ platform: flags.platform, from: flags.from });
  const config: Config = {
    ...user,
    protect: [...user.protect, ...settings.protect],
    heartbeats: [...user.heartbeats, ...settings.heartbeats],
    rootThresholds: settings.thresholds,
  };
  const warnings = [...settings.warnings, ...(recorded ? [] : missingRoots(flags.root ?? [], cwd))];
  const collectorWith = (files: AgentFiles): Collector =>
    new Collector({
      system,
      config,
      env,
      cwd,
      roots: flags.root,
      files: recorded ? NO_FILES : files,
      memory: recorded ? undefined : memory,
      alsoLive,
      warnings,
    });
  return { config, system, env, collectorWith, warnings: settings.warnings };
};

/** A root that was named and is not there is a typing error, or was removed: silence would look like no heartbeats. */
const missingRoots = (roots: readonly string[], cwd: string): readonly string[] =>
  roots
    .filter(root => !isDirectory(resolve(cwd, root)))
    .map(root => `--root ${visible(root)}: no such directory.`);

const isDirectory = (path: string): boolean => {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // gone, below a file, or closed to us
  }
};

export type PlatformChoice = 'auto' | 'procfs' | 'darwin' | 'portable';

export interface SystemChoice {
  readonly platform: PlatformChoice;
  /** A recorded table (`-` is standard input) instead of this machine. */
  readonly from: string | undefined;
}

/** The backend for this run. Only the one that is needed gets loaded. */
const chooseSystem = async ({ platform, from }: SystemChoice): Promise<System> => {
  if (from !== undefined) {
    const { loadRecorded, recordedSystem } = await import('../observe/recorded/load.ts');
    const loaded = await loadRecorded(from);
    if (!loaded.ok) throw new UsageError(loaded.message);
    return recordedSystem(loaded.table);
  }
  if (platform === 'procfs' || (platform === 'auto' && process.platform === 'linux')) return procfsSystem();
  if (platform === 'darwin' || (platform === 'auto' && process.platform === 'darwin')) {
    const { darwinSystem } = await import('../observe/darwin/system.ts');
    return darwinSystem();
  }
  const { portableSystem } = await import('../observe/portable/system.ts');
  return portableSystem();
};

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
