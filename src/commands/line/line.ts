import type { Collector } from '../../collect/collector.ts';
import { sampleWhole } from '../../collect/sample-twice.ts';
import { type LineStyle, statusLine } from '../../judge/status-line.ts';
import type { Severity } from '../../model/finding.ts';
import { failOnCode } from '../once.ts';
import { askingSession } from './asker.ts';

/** `--once --line` where no guard has looked for us. */
export const line = async (
  collector: Collector,
  { style, failOn }: { readonly style: LineStyle; readonly failOn: Severity | null },
  out: { write(text: string): void },
): Promise<number> => {
  const own = await askingSession(style);
  const snapshot = await sampleWhole(collector, false);
  const stale = snapshot.heartbeats.filter(({ state }) => state === 'warn' || state === 'critical').length;
  const agents = snapshot.processes.filter(({ isSession }) => isSession);
  out.write(`${statusLine({ totals: snapshot.totals, stale, agents, own, style })}\n`);
  return failOnCode(snapshot, failOn);
};
