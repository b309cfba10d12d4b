/** Runs inside the namespaces of one scene: sets it, compares, clears, compares again, and writes one line of JSON. */
import { compare, compareFindings } from './compare.ts';
import { type Ending, prepare } from './ending.ts';
import { clean, lookAtStillness } from './product.ts';
import type { SceneResult } from './result.ts';
import { SCENES } from './scenes/index.ts';
import { Stage } from './stage/stage.ts';
import { everybody, stillRuns } from './stage/table.ts';
import { screens } from './stage/terminal.ts';
import { StandIn } from './stand-in/stand-in.ts';
import { identityOf } from './truth.ts';

const play = async (name: string, ending: Ending): Promise<SceneResult> => {
  const scene = SCENES.find(other => other.name === name)!;
  const stage = new Stage(await StandIn.open());
  let leaks = 0;
  const clearing = await prepare(stage, ending, () => leaks);
  await scene.play(stage);

  const apart = new Set([process.pid, ...(clearing.pid === null ? [] : [clearing.pid])]);
  const snapshot = await lookAtStillness(stage);
  const compared = compare(stage, snapshot, apart);
  const watched = ending === 'tui-before';
  const isLeak = ({ truth }: (typeof compared)[number]): boolean =>
    truth?.verdict === 'leak' || (watched && truth?.watched === 'leak');
  const mayEnd = ({ truth }: (typeof compared)[number]): boolean => watched && truth?.watched === 'maybe';
  leaks = compared.filter(isLeak).length;
  const provable = compared.filter(({ truth }) => truth?.verdict === 'leak');

  const { plan } = await clean(stage, false);
  const planned = new Set(plan.steps.map(identityOf));
  const due = new Set(provable.map(({ seen }) => identityOf(seen)));
  const problems = [
    ...compareFindings(stage, snapshot, provable.length),
    ...[...planned].filter(id => !due.has(id)).map(id => `the plan would end ${id}`),
    ...[...due].filter(id => !planned.has(id)).map(id => `the plan leaves ${id}`),
  ];

  await clearing.clear();
  const after = compared.map(one => ({ ...one, runs: stillRuns(one.seen) }));
  return {
    rows: after.map(one => ({
      pid: one.seen.pid,
      ppid: one.seen.ppid,
      command: one.seen.command,
      what: one.truth?.what ?? null,
      leak: isLeak(one) || (mayEnd(one) && !one.runs),
      verdict: one.said?.verdict ?? null,
      why: one.said?.why ?? [],
      runs: one.runs,
      wrong: [
        ...one.wrong,
        ...(isLeak(one) && one.runs ? ['is still there after the clean-up'] : []),
        ...(!isLeak(one) && !mayEnd(one) && !one.runs ? ['was ended by the clean-up'] : []),
      ],
    })),
    problems,
    notes: [
      ...stage.notes,
      ...(stage.standIn.unknown.length > 0 && process.env.REAPTOP_REAL_DEBUG ? stage.standIn.unknown : []),
    ],
    error: null,
  };
};

const processes = (): string =>
  everybody()
    .map(seen => `${seen.pid} ${seen.ppid} ${seen.command.slice(0, 120)}`)
    .join('\n');

const [name, ending] = process.argv.slice(2) as [string, Ending];
let result: SceneResult;
try {
  result = await play(name, ending);
} catch (error) {
  const why = (error as Error).stack ?? String(error);
  result = { rows: [], problems: [], notes: [], error: `${why}\n${screens(process.env)}\n${processes()}` };
}
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
