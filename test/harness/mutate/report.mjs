import { readFileSync } from 'node:fs';
import { GROUPS } from './groups.mjs';

/** Below this a rule can be taken out without a test that notices. */
const WANTED = 90;

const flat = text => text.replaceAll(/\s+/g, ' ');

/** What a mutant replaced. */
const replaced = (lines, { start, end }) => {
  const part = lines.slice(start.line - 1, end.line);
  part.push(part.pop().slice(0, end.column - 1));
  part[0] = part[0].slice(start.column - 1);
  return flat(part.join(' '));
};

const say = line => process.stdout.write(`${line}\n`);

/** A loop that never ends is noticed by its timeout alone; on a busy machine a slow test may be, too. */
const tally = () => ({ killed: 0, timeout: 0, survived: 0 });
const noticed = ({ killed, timeout }) => killed + timeout;
const counted = ({ survived, ...rest }) => noticed(rest) + survived;
const score = count => (counted(count) === 0 ? 100 : (100 * noticed(count)) / counted(count));
const add = (to, count) => {
  for (const key of Object.keys(to)) to[key] += count[key];
};

/** Counts the mutants of one file, and says which survived and which were noticed by their timeout alone. */
const judgeFile = ({ source, mutants }) => {
  const lines = source.split('\n');
  const count = tally();
  const remarks = [];
  for (const { status, location, mutatorName, replacement } of mutants) {
    const code = lines[location.start.line - 1]?.trim() ?? '';
    const by = flat(replacement ?? '');
    const from = replaced(lines, location);
    const remark = word =>
      remarks.push(`          ${location.start.line} ${word} ${mutatorName}: ${code}: ${from}  →  ${by}`);
    if (status === 'Killed') count.killed += 1;
    else if (status === 'Timeout') {
      count.timeout += 1;
      remark('by timeout');
    } else if (status === 'Survived' || status === 'NoCoverage') {
      count.survived += 1;
      remark(status);
    }
  }
  return { count, remarks };
};

const judgeGroup = files => {
  const total = tally();
  for (const [file, content] of Object.entries(files).sort()) {
    const { count, remarks } = judgeFile(content);
    add(total, count);
    if (counted(count) === 0) continue;
    say(`${score(count).toFixed(0).padStart(4)} %  ${noticed(count)}/${counted(count)}  ${file}`);
    for (const remark of remarks) say(remark);
  }
  return total;
};

const COLUMNS = ['group', 'mutants', 'by a test', 'by timeout', 'survived', 'score', 'minutes'];
const row = cells => say(cells.map((cell, n) => (n === 0 ? cell.padEnd(10) : cell.padStart(11))).join(''));

const tell = (name, count, seconds) =>
  row([
    name,
    ...[counted(count), count.killed, count.timeout, count.survived].map(String),
    `${score(count).toFixed(1)} %`,
    (seconds / 60).toFixed(1),
  ]);

/**
 * Prints the score per file with every survivor, and a line per group; 0 when the score of each group is good enough and
 * each of the files that were to be changed was. Some survivors change nothing that can be seen: 100 % cannot be had.
 */
export const report = (runs, wanted = []) => {
  const groups = runs.map(({ name, path, seconds }) => {
    const { files } = JSON.parse(readFileSync(path, 'utf8'));
    return { name, seconds, files, count: judgeGroup(files) };
  });
  const paths = groups.flatMap(({ files }) => Object.keys(files));
  const all = tally();
  row(COLUMNS);
  for (const { name, count, seconds } of groups) {
    tell(name, count, seconds);
    add(all, count);
  }
  tell(
    'all',
    all,
    groups.reduce((sum, { seconds }) => sum + seconds, 0),
  );
  const wantedOf = name => GROUPS[name].wanted ?? WANTED;
  const low = groups.filter(({ name, count }) => score(count) < wantedOf(name));
  for (const { name } of low) say(`${name} is below ${wantedOf(name)} %`);
  const left = wanted.filter(path => !paths.includes(path));
  if (left.length > 0) say(`In no group: ${left.join(', ')}`);
  return low.length === 0 && left.length === 0 ? 0 : 1;
};
