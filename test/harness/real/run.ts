import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ENDINGS, type Ending } from './ending.ts';
import { cacheDirectory, install, type Need } from './packages.ts';
import { details, heading, line } from './report.ts';
import { type Figures, figuresOf, type SceneResult, sum } from './result.ts';
import { enter, INSIDE } from './sandbox.ts';
import { SCENES } from './scenes/index.ts';
import type { Scene } from './stage/scene.ts';

const SCENE_TIMEOUT_MS = 400_000;

const USAGE = `npm run real -- [--scene NAME…] [--ending ${ENDINGS.join('|')}] [--runs N] [--list] [--verbose] [--allow-missing]
Plays scenes with real agents and compares every process with what the scene knows. Needs root.
  --scene NAME      only this one; may be given several times (--list shows them)
  --ending HOW      clear every scene in this way instead of another one each run
  --runs N          as often as this (1)
  --verbose         say something about every process, not only about wrong ones
  --allow-missing   do not fail because a package could not be installed`;

interface Places {
  readonly repository: string;
  /** Holds the bundle and the copy of the program. */
  readonly directory: string;
}

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

const playOnce = async (
  scene: Scene,
  ending: Ending,
  { repository, directory }: Places,
): Promise<SceneResult> => {
  const bundle = join(INSIDE.repository, directory.slice(repository.length), 'inside.mjs');
  const debug = process.env.REAPTOP_REAL_DEBUG === undefined ? [] : ['env', 'REAPTOP_REAL_DEBUG=1'];
  const { stdout, code, timedOut } = await enter({
    repository,
    cache: cacheDirectory(),
    first: scene.first ?? 'host',
    command: [...debug, 'node', bundle, scene.name, ending],
    timeoutMs: SCENE_TIMEOUT_MS,
  });
  try {
    return JSON.parse(stdout) as SceneResult;
  } catch {
    const why = timedOut ? `took more than ${SCENE_TIMEOUT_MS / 1000} s` : `ended with ${code}: ${stdout}`;
    return { rows: [], problems: [], notes: [], error: why };
  }
};

/** Each run clears every scene in another way: three runs have seen all of them. */
const endingOf = (scene: number, run: number): Ending => ENDINGS[(scene + run) % ENDINGS.length]!;

/** Null: not played, because something is missing. */
const playAndTell = async (
  scene: Scene,
  ending: Ending,
  missing: readonly Need[],
  places: Places,
  verbose: boolean,
): Promise<Figures | null> => {
  const lacking = scene.needs.filter((need: Need) => missing.includes(need));
  if (lacking.length > 0) {
    say(`${scene.name}: not played, ${lacking.join(', ')} is missing`);
    return null;
  }
  const result = await playOnce(scene, ending, places);
  const figures = figuresOf(result);
  say(line(scene.name, ending, figures));
  const more = details(result, verbose);
  if (more !== '') say(more);
  return figures;
};

const options = (args: readonly string[]) =>
  parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      scene: { type: 'string', multiple: true, default: [] },
      ending: { type: 'string' },
      runs: { type: 'string', default: '1' },
      list: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
      'allow-missing': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });

/** What is wrong with the words on the command line; null when nothing is. */
const misunderstood = ({ values, positionals }: ReturnType<typeof options>): string | null => {
  const strange = [...values.scene, ...positionals].filter(
    name => !SCENES.some(scene => scene.name === name),
  );
  if (strange.length > 0) return `No scene is called ${strange.join(', ')}.`;
  if (values.ending !== undefined && !ENDINGS.includes(values.ending as Ending))
    return `No scene ends with ${values.ending}: use ${ENDINGS.join(', ')}.`;
  return /^[1-9]\d?$/.test(values.runs) ? null : `--runs ${values.runs}: use a number from 1 to 99.`;
};

const understood = (args: readonly string[]): ReturnType<typeof options> | string => {
  try {
    const said = options(args);
    return misunderstood(said) ?? said;
  } catch (error) {
    return (error as Error).message;
  }
};

export const main = async (args: readonly string[], places: Places): Promise<number> => {
  const said = understood(args);
  if (typeof said === 'string') {
    say(`${said}\n${USAGE}`);
    return 2;
  }
  const { values } = said;
  if (values.help) {
    say(USAGE);
    return 0;
  }
  const names = [...values.scene, ...said.positionals];
  const scenes = names.length === 0 ? SCENES : SCENES.filter(scene => names.includes(scene.name));
  if (values.list) {
    for (const { name, about } of scenes) say(`${name.padEnd(26)}  ${about}`);
    return 0;
  }
  if (process.getuid?.() !== 0) {
    say('The scenes need namespaces of their own and an invented user: run this as root.');
    return 2;
  }
  const missing = install(say);
  for (const name of missing) say(`missing: ${name}`);
  cpSync(join(places.repository, 'dist'), join(places.directory, 'dist'), { recursive: true });
  let failed = missing.length > 0 && !values['allow-missing'];
  for (let run = 0; run < Number(values.runs); run++) {
    say(`run ${run + 1}\n${heading()}`);
    const all: Figures[] = [];
    for (const [index, scene] of SCENES.entries()) {
      if (!scenes.includes(scene)) continue;
      const ending = (values.ending as Ending | undefined) ?? endingOf(index, run);
      const figures = await playAndTell(scene, ending, missing, places, values.verbose);
      if (figures !== null) all.push(figures);
    }
    const total = sum(all);
    say(line(`${all.length} scenes`, '', total));
    failed ||= total.wrong > 0;
  }
  return failed ? 1 : 0;
};
