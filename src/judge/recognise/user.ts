import type { UserRecogniser } from '../../model/config.ts';
import { starMatcher } from '../../model/glob.ts';
import type { Layer } from './layers.ts';
import { scriptOf, shellUse } from './layers.ts';
import { INTERPRETER_BY_PROGRAM, SHELL_PROGRAMS } from './tables.ts';
import { baseOf, programName, withoutVersion } from './words.ts';

export interface UserRecognisers {
  find(layer: Layer, exe: string | null): UserRecogniser | null;
}

const scriptIn = (layer: Layer): string | null => {
  const name = programName(layer.token);
  const interpreter = INTERPRETER_BY_PROGRAM.get(withoutVersion(name));
  if (interpreter) return scriptOf(interpreter, layer.words, layer.from)?.token ?? null;
  if (!SHELL_PROGRAMS.has(name)) return null;
  const use = shellUse(layer.words, layer.from);
  return use.use === 'script' ? use.inner.token : null;
};

/** A user's own recognisers, in the order of the config; null when there is none. */
export const indexRecognisers = (recognisers: readonly UserRecogniser[]): UserRecognisers | null => {
  if (recognisers.length === 0) return null;
  const tests = recognisers.map(recogniser => ({ recogniser, fits: starMatcher(recogniser.program) }));
  return {
    find: (layer, exe) => {
      const names = new Set([baseOf(layer.token), programName(layer.token)]);
      if (exe !== null) names.add(baseOf(exe)).add(programName(exe));
      const script = scriptIn(layer);
      if (script !== null) names.add(baseOf(script)).add(script);
      for (const { recogniser, fits } of tests) {
        const words = recogniser.args ?? [];
        if (![...names].some(fits)) continue;
        if (words.every(word => layer.words.includes(word, layer.from))) return recogniser;
      }
      return null;
    },
  };
};
