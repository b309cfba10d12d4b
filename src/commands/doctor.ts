import type { Flags } from '../collect/prepare.ts';
import { checkHealth, type NamedCheck } from '../judge/health/index.ts';
import { atLeast, type Severity } from '../model/finding.ts';
import { plural } from '../model/format.ts';
import type { Level } from '../model/health.ts';
import { wrap } from '../words/wrap.ts';
import { gatherHealth } from './doctor-facts.ts';
import { EXIT_FAIL_ON } from './exit-codes.ts';
import { painter, type Tone } from './paint.ts';

export interface DoctorOptions {
  readonly json: boolean;
  readonly failOn: Severity | null;
  readonly width: number;
  readonly color: boolean;
}

const TONE: Readonly<Record<Level, Tone>> = { ok: 'good', warn: 'warn', fail: 'bad' };

/** What `--fail-on` compares with; what is well is no finding. */
const SEVERITY: Readonly<Record<Level, Severity | null>> = { ok: null, warn: 'warn', fail: 'critical' };

/** What works here and what does not, one line per check, with what to do about it. */
export const doctor = async (
  flags: Flags,
  { json, failOn, width, color }: DoctorOptions,
  { env, cwd, out }: { env: NodeJS.ProcessEnv; cwd: string; out: { write(text: string): void } },
): Promise<number> => {
  const checks = checkHealth(await gatherHealth(flags, env, cwd));
  out.write(
    json
      ? `${JSON.stringify({ schema: 1, takenAt: new Date().toISOString(), checks }, null, 2)}\n`
      : doctorText(checks, width, color),
  );
  const met = checks.some(({ level }) => {
    const severity = SEVERITY[level];
    return failOn !== null && severity !== null && atLeast(severity, failOn);
  });
  return met ? EXIT_FAIL_ON : 0;
};

const INDENT = '     ';

export const doctorText = (checks: readonly NamedCheck[], width: number, color: boolean): string => {
  const paint = painter(color);
  const lines = checks.flatMap(({ id, level, says, todo }) => {
    const [first = '', ...rest] = wrap(`${level.padEnd(4)} ${id}: ${says}`, width, INDENT);
    return [
      `${paint(first.slice(0, 4), TONE[level])}${first.slice(4)}`,
      ...rest,
      ...(todo === null ? [] : wrap(`${INDENT}→ ${todo}`, width, `${INDENT}  `)),
    ];
  });
  const count = (level: Level): number => checks.filter(check => check.level === level).length;
  const closing = `${count('ok')} ok, ${plural(count('warn'), 'warning')}, ${count('fail')} failed`;
  return `${[...lines, closing].join('\n')}\n`;
};
