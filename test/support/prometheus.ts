import { spawnSync } from 'node:child_process';
import { lacking } from './lacking.ts';

/** The test goes on only where Prometheus is installed. */
export const needsPrometheus = (): void => {
  if (['prometheus', 'promtool'].some(program => spawnSync(program, ['--version']).error !== undefined))
    lacking('Prometheus is not installed (Debian package "prometheus").');
};
