import type { Report, Target } from '../../model/report.ts';

export interface LogFacts {
  readonly bytes: number;
  readonly files: number;
}

/** The audit log is rotated at 4 MiB between two acts, and two older files are kept. */
const LOG_LIMIT = 16 * 1024 ** 2;
const LOG_FILES = 3;

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** The seeds' targets, each beside what was measured. */
export const targetsOf = (
  report: Omit<Report, 'targets'>,
  log: LogFacts,
  partial: number | null,
): readonly Target[] => {
  const { sessions, hangs, zombiesPerSession, moments, relatedFirst, relatedLast } = report;
  const hangShare = sessions === 0 ? null : hangs.length / sessions;
  return [
    {
      what: 'hangs per session',
      wanted: '< 10 %',
      measured: hangShare === null ? 'no data' : percent(hangShare),
      met: hangShare === null ? null : hangShare < 0.1,
    },
    {
      what: 'partial results of what ended early',
      wanted: '> 70 %',
      measured: partial === null ? 'no data' : percent(partial),
      met: partial === null ? null : partial > 0.7,
    },
    {
      what: 'zombies per session',
      wanted: '< 2',
      measured: moments === 0 ? 'no data' : zombiesPerSession.toFixed(1),
      met: moments === 0 ? null : zombiesPerSession < 2,
    },
    {
      what: 'processes back to the baseline',
      wanted: `<= ${relatedFirst ?? '-'}`,
      measured: relatedLast === null ? 'no data' : String(relatedLast),
      met: relatedFirst === null || relatedLast === null ? null : relatedLast <= relatedFirst,
    },
    {
      what: 'log rotation',
      wanted: '<= 16 MiB in 3 files',
      measured: `${(log.bytes / 1024 ** 2).toFixed(1)} MiB in ${log.files}`,
      met: log.bytes <= LOG_LIMIT && log.files <= LOG_FILES,
    },
  ];
};
