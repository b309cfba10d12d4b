import { list } from './families.ts';

/** Command shells; a login shell's leading dash is taken off before the look-up. */
export const SHELLS = {
  programs: list('sh bash zsh dash fish ksh mksh ash tcsh csh nu pwsh elvish xonsh rbash'),
  /** Options whose value is the next word. */
  valueFlags: list('-o +o -O +O --rcfile --init-file -C --init-command'),
};
