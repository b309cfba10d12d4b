interface Query {
  readonly expression: string;
  readonly legend: string;
}

interface Panel {
  readonly title: string;
  readonly kind: 'stat' | 'timeseries' | 'table';
  readonly unit?: 'bytes' | 's' | 'short' | 'ops';
  readonly queries: readonly Query[];
  readonly wide?: boolean;
}

const ON = '{instance=~"$instance"}';
const on = (labels: string): string => `{instance=~"$instance",${labels}}`;

/** What a fleet is looked at with; a test holds every expression against guard's own list of metrics. */
export const DASHBOARD_PANELS: readonly Panel[] = [
  {
    title: 'Leaked now',
    kind: 'stat',
    queries: [{ expression: `sum(reaptop_processes${on('verdict="leak"')})`, legend: 'processes' }],
  },
  {
    title: 'Leaked memory',
    kind: 'stat',
    unit: 'bytes',
    queries: [{ expression: `sum(reaptop_memory_bytes${on('verdict="leak"')})`, legend: 'bytes' }],
  },
  {
    title: 'Given back in a day',
    kind: 'stat',
    unit: 'bytes',
    queries: [{ expression: `sum(increase(reaptop_reclaimed_bytes_total${ON}[1d]))`, legend: 'bytes' }],
  },
  {
    title: 'Machines held',
    kind: 'stat',
    queries: [{ expression: `sum(reaptop_policy_held${ON})`, legend: 'held' }],
  },
  {
    title: 'Processes by verdict',
    kind: 'timeseries',
    wide: true,
    queries: [{ expression: `sum by (verdict) (reaptop_processes${ON})`, legend: '{{verdict}}' }],
  },
  {
    title: 'Memory by kind',
    kind: 'timeseries',
    unit: 'bytes',
    wide: true,
    queries: [{ expression: `sum by (kind) (reaptop_memory_bytes${ON})`, legend: '{{kind}}' }],
  },
  {
    title: 'Agents by family',
    kind: 'timeseries',
    wide: true,
    queries: [{ expression: `sum by (agent) (reaptop_processes${on('kind="agent"')})`, legend: '{{agent}}' }],
  },
  {
    title: 'Zombies',
    kind: 'timeseries',
    wide: true,
    queries: [{ expression: `sum by (instance) (reaptop_zombies${ON})`, legend: '{{instance}}' }],
  },
  {
    title: 'Calls: pending, hung',
    kind: 'timeseries',
    wide: true,
    queries: [
      { expression: `sum by (agent) (reaptop_calls_pending${ON})`, legend: '{{agent}} pending' },
      { expression: `sum by (agent) (reaptop_calls_hung${ON})`, legend: '{{agent}} hung' },
    ],
  },
  {
    title: 'Findings',
    kind: 'timeseries',
    wide: true,
    queries: [
      { expression: `sum by (id, severity) (reaptop_findings${ON}) > 0`, legend: '{{id}} {{severity}}' },
    ],
  },
  {
    title: 'Slowest heartbeats',
    kind: 'timeseries',
    unit: 's',
    wide: true,
    queries: [
      {
        expression: `topk(10, reaptop_heartbeat_age_seconds${ON})`,
        legend: '{{instance}} {{project}} {{task}}',
      },
    ],
  },
  {
    title: 'Put to sleep in a day',
    kind: 'timeseries',
    queries: [
      { expression: `sum(increase(reaptop_slept_total${ON}[1d]))`, legend: 'sessions' },
      { expression: `sum(increase(reaptop_slept_bytes_total${ON}[1d])) / 2 ^ 20`, legend: 'MiB' },
    ],
  },
  {
    title: 'Ended, by outcome and by whom',
    kind: 'timeseries',
    wide: true,
    queries: [
      {
        expression: `sum by (outcome, by) (increase(reaptop_ended_total${ON}[10m]))`,
        legend: '{{outcome}} by {{by}}',
      },
    ],
  },
  {
    title: 'How long a look takes',
    kind: 'timeseries',
    unit: 's',
    wide: true,
    queries: [
      {
        expression: `histogram_quantile(0.95, sum by (le) (rate(reaptop_sample_duration_seconds_bucket${ON}[5m])))`,
        legend: 'p95',
      },
      { expression: `sum(rate(reaptop_sample_failures_total${ON}[5m]))`, legend: 'failures' },
    ],
  },
  {
    title: 'Waiting for the budget',
    kind: 'timeseries',
    wide: true,
    queries: [{ expression: `sum by (instance) (reaptop_policy_waiting${ON})`, legend: '{{instance}}' }],
  },
  {
    title: 'Versions',
    kind: 'table',
    wide: true,
    queries: [
      { expression: `sum by (instance, version, node) (reaptop_build_info${ON})`, legend: '' },
      { expression: `time() - reaptop_last_sample_timestamp_seconds${ON}`, legend: '' },
    ],
  },
];

const COLUMNS = 24;
const HEIGHT = 8;

const placed = (): object[] => {
  let x = 0;
  let y = 0;
  return DASHBOARD_PANELS.map(({ title, kind, unit = 'short', queries, wide = false }, index) => {
    const w = wide ? COLUMNS / 2 : COLUMNS / 4;
    if (x + w > COLUMNS) {
      x = 0;
      y += HEIGHT;
    }
    const gridPos = { h: HEIGHT, w, x, y };
    x += w;
    return {
      id: index + 1,
      title,
      type: kind,
      datasource: { type: 'prometheus', uid: '$datasource' },
      gridPos,
      fieldConfig: { defaults: { unit }, overrides: [] },
      targets: queries.map(({ expression, legend }, n) => ({
        refId: String.fromCharCode(65 + n),
        expr: expression,
        legendFormat: legend,
        ...(kind === 'table' ? { format: 'table', instant: true } : {}),
      })),
    };
  });
};

/** A dashboard for Grafana (Dashboards, New, Import). */
export const dashboardText = (): string =>
  `${JSON.stringify(
    {
      title: 'reaptop',
      uid: 'reaptop-fleet',
      tags: ['reaptop'],
      schemaVersion: 39,
      refresh: '30s',
      time: { from: 'now-6h', to: 'now' },
      templating: {
        list: [
          { name: 'datasource', type: 'datasource', query: 'prometheus' },
          {
            name: 'instance',
            type: 'query',
            datasource: { type: 'prometheus', uid: '$datasource' },
            query: 'label_values(reaptop_build_info, instance)',
            includeAll: true,
            multi: true,
            current: { text: 'All', value: '$__all' },
          },
        ],
      },
      panels: placed(),
    },
    null,
    2,
  )}\n`;
