import { join } from 'node:path';
import { homeDirectory } from '../collect/config.ts';
import { makeReport } from '../judge/report/report.ts';
import { plural } from '../model/format.ts';
import type { Glimpse, Report, ReportGroup } from '../model/report.ts';
import { diskUse } from '../observe/health/disk-use.ts';
import { stateDirectory } from '../observe/state/state-directory.ts';
import { readAuditHistory } from '../remember/audit-history.ts';
import { glimpseAt } from '../remember/recorder/glimpse-at.ts';
import { Recording } from '../remember/recorder/recording.ts';
import { glyphsFor } from '../tui/look/glyphs.ts';
import { reportText } from './report-text.ts';

export interface ReportOptions {
  readonly sinceMs: number;
  readonly by: ReportGroup;
  readonly json: boolean;
  readonly width: number;
  readonly color: boolean;
}

/** A moment each minute is enough for trends; guard records six. */
const STEP_MS = 60_000;

/** Every so often one, and each whose findings or leaks differ from those before: nothing that happened is passed over. */
const readGlimpses = (recording: Recording, from: number, to: number): readonly Glimpse[] => {
  const glimpses: Glimpse[] = [];
  let signature = '';
  for (const glimpse of recording.through(from, to, glimpseAt)) {
    const now = signatureOf(glimpse);
    const last = glimpses.at(-1);
    if (last !== undefined && now === signature && glimpse.at - last.at < STEP_MS) continue;
    signature = now;
    glimpses.push(glimpse);
  }
  return glimpses;
};

const signatureOf = ({ zombies, builds, agents, leaks, findings, results }: Glimpse): string =>
  [
    zombies,
    builds,
    ...[...agents, ...leaks].map(({ key }) => key),
    ...findings.map(({ id, about }) => `${id} ${about.join(' ')}`),
    ...results.map(({ key, result }) => `${key} ${result}`),
  ].join('\n');

/** Does it help? Adds up the audit log and the recorder, beside the seeds' targets. */
export const report = (
  { sinceMs, by, json, width, color }: ReportOptions,
  { env, out, now }: { env: NodeJS.ProcessEnv; out: { write(text: string): void }; now: number },
): number => {
  const directory = stateDirectory(env);
  const from = now - sinceMs;
  const nothing = { acts: [], bytes: 0, files: 0, skipped: 0 };
  const audit = directory === null ? nothing : readAuditHistory(directory, from);
  const recording = directory === null ? null : new Recording(directory);
  const glimpses = recording === null ? [] : readGlimpses(recording, from, now);
  const made = makeReport({ from, to: now, by, acts: audit.acts, glimpses, log: audit });
  const home = homeDirectory(env);
  const disk = home === null ? null : diskUse(join(home, '.claude-orchestrator', 'workspaces'));
  const warnings = [
    ...(audit.skipped === 0 ? [] : [`${plural(audit.skipped, 'line')} of the audit log could not be read.`]),
    ...(recording?.warnings() ?? []),
    ...(glimpses.length > 0
      ? []
      : ['Nothing was recorded in this time: only acts are counted (reaptop guard records).']),
  ];
  out.write(
    json
      ? `${JSON.stringify(reportJson(made, disk?.bytes ?? null, warnings), null, 2)}\n`
      : reportText(made, { width, color, glyphs: glyphsFor(env), by, disk, warnings }),
  );
  return 0;
};

const iso = (at: number): string => new Date(at).toISOString();

const reportJson = (made: Report, workspaceBytes: number | null, warnings: readonly string[]) => ({
  schema: 1,
  ...made,
  from: iso(made.from),
  to: iso(made.to),
  hangs: made.hangs.map(({ id, from, to, ended }) => ({
    id,
    from: iso(from),
    seconds: (to - from) / 1000,
    ended,
  })),
  workspaceBytes,
  warnings,
});
