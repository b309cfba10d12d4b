import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Totals } from '../../../src/model/snapshot.ts';
import { type Latest, writeLatest } from '../../../src/remember/latest.ts';
import { EVENTS } from '../../fixtures/hooks.ts';
import { cpuOfCommand, interleaved, median, timeOfCommand } from './measure.ts';
import { type Row, ratioRow, skippedRow, valueRow } from './report.ts';
import type { Stage } from './stage.ts';

const AT_ONCE = 20;

/** guard's last sample, as fresh as one of a guard that runs. */
const sample = (): Latest => ({
  schema: 1,
  takenAt: Date.now(),
  guard: {
    writer: { pid: process.pid, start: '1' },
    since: 0,
    intervalSeconds: 3600,
    held: null,
    paused: null,
    endsLastHour: 0,
    endsPerHour: 60,
    waiting: 0,
    ended: 0,
    reclaimedBytes: 0,
    acts: [],
    warnings: [],
  },
  host: {} as Latest['host'],
  totals: { processes: 300, agents: 3, related: 41, rss: 1, swap: 0, leaks: 3, reclaimable: 1 } as Totals,
  stale: 0,
  hung: 0,
  agents: [],
  findings: [],
});

const NAMESPACE = ['--pid', '--fork', '--mount-proc', '--kill-child'];

/**
 * A session that starts among leaks that are old enough to be cleared, in a namespace of its own: nothing of this machine
 * may be cleared for a measurement.
 */
const sessionStart = (stage: Stage, event: string): Row => {
  const what = 'hook SessionStart with five leaks to clear';
  if (spawnSync('unshare', [...NAMESPACE, 'true']).status !== 0)
    return skippedRow(what, 'no pid namespace can be made here');
  const server = stage.sandbox.sleeper('mcp-server-left');
  const script = `
    for n in 1 2 3 4 5; do
      (CLAUDECODE=1 CLAUDE_CODE_SESSION_ID=ended setsid '${server}' 600 </dev/null >/dev/null 2>&1 &)
    done
    sleep 62
    from=$(date +%s%N)
    '${stage.cli}' hook SessionStart < '${event}'
    echo $(( ($(date +%s%N) - from) / 1000000 ))`;
  const { stdout } = spawnSync('unshare', [...NAMESPACE, 'sh', '-c', script], {
    ...stage.commandOptions,
    encoding: 'utf8',
  });
  const [answer = '', took] = stdout.trim().split('\n');
  if (!answer.includes('cleared 5 leaked processes')) throw new Error(`SessionStart answered ${stdout}`);
  return valueRow(what, Number(took) / 1000, 's', 2);
};

/**
 * Eight times one, with four cores or more: 1.6 times their fair share of the machine. On fewer cores that share is
 * larger (twenty of anything on two take ten times one), and the limit as well.
 */
const LIMIT_AT_ONCE = 1.6 * (AT_ONCE / Math.min(4, availableParallelism()));

/** What a hook adds to every tool call, beside the bare start of Node. */
export const benchHooks = async (stage: Stage): Promise<Row[]> => {
  const { cli, commandOptions, sandbox } = stage;
  const write = (name: keyof typeof EVENTS): string =>
    sandbox.write(`${name}.json`, JSON.stringify({ ...EVENTS[name], cwd: sandbox.path('work') }));
  const event = write('PostToolUse');
  const shell = (script: string) => timeOfCommand('sh', ['-c', script], commandOptions);
  const cpu = (script: string) => cpuOfCommand('sh', ['-c', script], commandOptions);
  const one = `'${cli}' hook PostToolUse < '${event}'`;
  const state = join(sandbox.home, '.local/state/reaptop');
  const warning = writeLatest(state, sample());
  if (warning !== null) throw new Error(warning);

  const { hook, line, node } = await interleaved(
    {
      hook: cpu(`exec ${one}`),
      line: cpu(`exec '${cli}' --once --line < /dev/null`),
      node: cpu(`exec '${process.execPath}' -e 0 < '${event}'`),
    },
    20,
  );
  rmSync(join(state, 'latest.json'));
  const crowdOf = (command: string): string => `for n in $(seq ${AT_ONCE}); do ${command} & done; wait`;
  const crowd = await interleaved(
    {
      single: shell(`${one} & wait`),
      many: shell(crowdOf(one)),
      bare: timeOfCommand('sh', ['-c', crowdOf(`'${process.execPath}' -e 0`)], stage.commandOptions),
    },
    5,
  );
  return [
    ratioRow('hook PostToolUse / node -e 0, CPU', { ours: median(hook), theirs: median(node), limit: 1.25 }),
    ratioRow('--once --line with guard’s sample / node -e 0, CPU', {
      ours: median(line),
      theirs: median(node),
      limit: 1.15,
    }),
    ratioRow(`${AT_ONCE} hooks at once on one session / one`, {
      ours: median(crowd.many),
      theirs: median(crowd.single),
      limit: LIMIT_AT_ONCE,
      note: `; ${AT_ONCE} bare Nodes: ${median(crowd.bare).toFixed(1)} ms`,
    }),
    ...(stage.quick ? [] : [sessionStart(stage, write('SessionStart'))]),
  ];
};
