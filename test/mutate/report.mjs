import { readFileSync } from 'node:fs';

/** Below this a rule can be taken out without a test that notices. */
const WANTED = 90;

const DETECTED = new Set(['Killed', 'Timeout']);
const COUNTED = new Set([...DETECTED, 'Survived', 'NoCoverage']);

/** Prints the score per file and every survivor; 0 when the score is good enough. */
export const report = path => {
  const { files } = JSON.parse(readFileSync(path, 'utf8'));
  let [detected, counted] = [0, 0];
  for (const [file, { source, mutants }] of Object.entries(files).sort()) {
    const lines = source.split('\n');
    const tried = mutants.filter(({ status }) => COUNTED.has(status));
    const caught = tried.filter(({ status }) => DETECTED.has(status)).length;
    detected += caught;
    counted += tried.length;
    if (tried.length > 0)
      process.stdout.write(
        `${((100 * caught) / tried.length).toFixed(0).padStart(4)} %  ${caught}/${tried.length}  ${file}\n`,
      );
    for (const { status, location, mutatorName, replacement } of tried) {
      if (DETECTED.has(status)) continue;
      const { line } = location.start;
      process.stdout.write(
        `          ${line} ${status} ${mutatorName}: ${lines[line - 1]?.trim()}  →  ${replacement?.replaceAll(/\s+/g, ' ')}\n`,
      );
    }
  }
  const score = counted === 0 ? 0 : (100 * detected) / counted;
  process.stdout.write(
    `Score ${score.toFixed(1)} % (${detected} of ${counted} mutants noticed), wanted ${WANTED} %\n`,
  );
  return score >= WANTED ? 0 : 1;
};
