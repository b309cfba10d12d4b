import type { PressureFacts } from '../../model/health.ts';
import type { HostFacts } from '../../model/observation.ts';
import { readText } from '../procfs/read.ts';

/** `some avg10=0.00 avg60=1.25 avg300=0.40 total=123`: in how much of the time somebody waited for memory. */
const waitedIn = (text: string | null): number | null => {
  const share = Number.parseFloat(/^some .*\bavg60=([\d.]+)/m.exec(text ?? '')?.[1] ?? '');
  return Number.isFinite(share) ? share : null;
};

export const readPressure = (
  host: Pick<HostFacts, 'memTotal' | 'memAvailable' | 'swapUsed'>,
  root = '/proc',
): PressureFacts => {
  const swap = /^SwapTotal:\s+(\d+) kB/m.exec(readText(`${root}/meminfo`) ?? '')?.[1];
  return {
    ...{ memTotal: host.memTotal, memAvailable: host.memAvailable, swapUsed: host.swapUsed },
    swapTotal: swap === undefined ? null : Number(swap) * 1024,
    waited: waitedIn(readText(`${root}/pressure/memory`)),
  };
};
