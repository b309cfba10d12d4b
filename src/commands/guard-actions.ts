import { dashboardText } from '../guard/fleet/dashboard.ts';
import { rulesText } from '../guard/fleet/rules.ts';
import type { Output } from './output.ts';

export { statePlace as place } from '../observe/state/state-directory.ts';
export { install, uninstall } from './guard-install.ts';
export { allowGuard, status } from './guard-status.ts';

const PRINTED = { rules: rulesText, dashboard: dashboardText } as const;

/** For Prometheus (`rule_files:`) and Grafana (import). */
export const print = (what: keyof typeof PRINTED, out: Output): number => {
  out.write(PRINTED[what]());
  return 0;
};
