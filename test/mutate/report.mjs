import { readFileSync } from 'node:fs';
import { EQUIVALENT } from './equivalent.mjs';

/** Below this a rule can be taken out without a test that notices. */
const WANTED = 90;

const DETECTED = new Set(['Killed', 'Timeout']);
const COUNTED = new Set([...DETECTED, 'Survived', 'NoCoverage']);

const flat = text => text.replaceAll(/\s+/g, ' ');

/** What a mutant replaced. */
const replaced = (lines, { start, end }) => {
  const part = lines.slice(start.line - 1, end.line);
  part.push(part.pop().slice(0, end.column - 1));
  part[0] = part[0].slice(start.column - 1);
  return flat(part.join(' '));
};

const say = line => process.stdout.write(`${line}\n`);

/** Prints the score per file and every survivor that is not named equivalent; 0 when the score is good enough. */
export const report = paths => {
  const unused = new Set(EQUIVALENT);
  const files = Object.assign({}, ...paths.map(path => JSON.parse(readFileSync(path, 'utf8')).files));
  let [detected, counted, named] = [0, 0, 0];
  for (const [file, { source, mutants }] of Object.entries(files).sort()) {
    const lines = source.split('\n');
    const tried = mutants.filter(({ status }) => COUNTED.has(status));
    const caught = tried.filter(({ status }) => DETECTED.has(status)).length;
    const survivors = [];
    for (const { status, location, mutatorName, replacement } of tried) {
      if (DETECTED.has(status)) continue;
      const code = lines[location.start.line - 1]?.trim() ?? '';
      const by = flat(replacement ?? '');
      const from = replaced(lines, location);
      const equivalent = EQUIVALENT.find(
        e => file.endsWith(e.file) && code.includes(e.code) && from === e.from && by === e.by,
      );
      if (equivalent !== undefined) {
        unused.delete(equivalent);
        named += 1;
      } else
        survivors.push(
          `          ${location.start.line} ${status} ${mutatorName}: ${code}: ${from}  →  ${by}`,
        );
    }
    detected += caught;
    counted += caught + survivors.length;
    const score = caught + survivors.length === 0 ? 100 : (100 * caught) / (caught + survivors.length);
    if (tried.length > 0)
      say(`${score.toFixed(0).padStart(4)} %  ${caught}/${caught + survivors.length}  ${file}`);
    for (const survivor of survivors) say(survivor);
  }
  for (const { file, code, from, by } of unused)
    if (Object.keys(files).some(path => path.endsWith(file)))
      say(`Named equivalent, and no survivor is: ${file}: ${code}: ${from} → ${by}`);
  const score = counted === 0 ? 0 : (100 * detected) / counted;
  say(
    `Score ${score.toFixed(1)} % (${detected} of ${counted} mutants noticed, ${named} named equivalent), wanted ${WANTED} %`,
  );
  return score >= WANTED ? 0 : 1;
};
