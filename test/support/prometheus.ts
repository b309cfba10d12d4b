import { spawnSync } from 'node:child_process';
import { notInstalled } from './lacking.ts';

/** The test goes on only where Prometheus is installed. */
export const needsPrometheus = (): void => {
  if (['prometheus', 'promtool'].some(program => spawnSync(program, ['--version']).error !== undefined))
    notInstalled('Prometheus', 'prometheus');
};
