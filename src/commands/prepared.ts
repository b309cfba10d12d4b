import { type Flags, prepare } from '../collect/prepare.ts';
import { currentDirectory } from './current-directory.ts';
import { rememberedLineage } from './remembered.ts';

/** What every face starts from: the config, a system and a collector, for this process and where it stands. */
export const prepared = (flags: Flags) =>
  prepare(flags, process.env, currentDirectory(), rememberedLineage(process.env));
