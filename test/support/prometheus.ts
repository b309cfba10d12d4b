import { spawnSync } from 'node:child_process';

/**
 * True where Prometheus is not installed: the test then says so and does nothing. In CI (`.ci/run` sets REAPTOP_CI, and
 * installs it) that is a failure.
 */
export const prometheusMissing = (): boolean => {
  if (['prometheus', 'promtool'].every(program => spawnSync(program, ['--version']).error === undefined))
    return false;
  const sentence =
    'Prometheus is not installed (Debian package "prometheus"): guard’s metrics were not checked with it.';
  if (process.env.REAPTOP_CI !== undefined) throw new Error(sentence);
  process.stderr.write(`${sentence}\n`);
  return true;
};
