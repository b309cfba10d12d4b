/** One alert. Expressions name only metrics that guard has; a test holds them against its own list. */
export interface Alert {
  readonly name: string;
  readonly expression: string;
  /** How long it must be so; absent: at once. */
  readonly lasts?: string;
  readonly severity: 'info' | 'warning' | 'critical';
  readonly summary: string;
  readonly description: string;
}

export const ALERTS: readonly Alert[] = [
  {
    name: 'ReaptopLeak',
    expression: 'sum by (instance, job) (reaptop_processes{verdict="leak"}) > 0',
    severity: 'info',
    summary: '{{ $value }} leaked processes on {{ $labels.instance }}',
    description:
      'Processes whose agent has ended. guard ends them after a minute; reaptop --once says which and why.',
  },
  {
    name: 'ReaptopLeakStays',
    expression: 'sum by (instance, job) (reaptop_processes{verdict="leak"}) > 0',
    lasts: '10m',
    severity: 'warning',
    summary: '{{ $value }} leaked processes stay on {{ $labels.instance }}',
    description:
      'guard has not ended them: held, over its budget, or they do not end. See reaptop guard status.',
  },
  {
    name: 'ReaptopLeakedMemory',
    expression: 'sum by (instance, job) (reaptop_memory_bytes{verdict="leak"}) > 1073741824',
    lasts: '2m',
    severity: 'critical',
    summary: '{{ $value | humanize1024 }}B leaked on {{ $labels.instance }}',
    description: 'Leaked processes hold more than 1 GiB.',
  },
  {
    name: 'ReaptopHeld',
    expression: 'reaptop_policy_held > 0',
    severity: 'critical',
    summary: 'guard holds on {{ $labels.instance }}',
    description:
      'reaptop may no longer recognise an agent. Look at reaptop guard status, then reaptop guard allow.',
  },
  {
    name: 'ReaptopBudgetSpent',
    expression: 'reaptop_policy_waiting > 0',
    lasts: '1m',
    severity: 'warning',
    summary: 'guard has reached its hourly limit of ended trees on {{ $labels.instance }}',
    description: '{{ $value }} processes wait. Something leaks faster than policy.endsPerHour allows.',
  },
  {
    name: 'ReaptopSurvived',
    expression: 'increase(reaptop_ended_total{outcome=~"survived|denied"}[1h]) > 0',
    severity: 'warning',
    summary: 'something outlived SIGKILL on {{ $labels.instance }}',
    description: 'Asked for by {{ $labels.by }}. It is stuck in the kernel, or the system forbids ending it.',
  },
  {
    name: 'ReaptopZombies',
    expression: 'reaptop_findings{id="zombie",severity="critical"} > 0',
    lasts: '10m',
    severity: 'warning',
    summary: 'a server on {{ $labels.instance }} does not reap its children',
    description: 'Its next calls may hang. reaptop clean --zombie-parents deals with it.',
  },
  {
    name: 'ReaptopAgentSilent',
    expression: 'reaptop_findings{id="heartbeat-stale",severity="critical"} > 0',
    lasts: '2m',
    severity: 'warning',
    summary: '{{ $value }} agents on {{ $labels.instance }} are silent',
    description: 'They look busy and have sent no heartbeat for minutes.',
  },
  {
    name: 'ReaptopCallHung',
    expression: 'sum by (instance, job) (reaptop_calls_hung) > 0',
    lasts: '2m',
    severity: 'warning',
    summary: '{{ $value }} calls on {{ $labels.instance }} hang',
    description: 'Agents wait for a server that does nothing. f in reaptop ends it, and they go on.',
  },
  {
    name: 'ReaptopOverMemory',
    expression: 'reaptop_findings{id="over-memory",severity="critical"} > 0',
    lasts: '2m',
    severity: 'warning',
    summary: '{{ $value }} processes on {{ $labels.instance }} are over the memory limit',
    description: 'The limit is thresholds.over-memory.limitBytes of the config.',
  },
  {
    name: 'ReaptopGuardStale',
    expression: 'time() - reaptop_last_sample_timestamp_seconds > 120',
    lasts: '1m',
    severity: 'critical',
    summary: 'guard on {{ $labels.instance }} has stopped sampling',
    description: 'Its last sample is older than two minutes.',
  },
  {
    name: 'ReaptopGuardGone',
    expression: 'absent_over_time(reaptop_build_info[10m])',
    severity: 'warning',
    summary: 'no guard answers',
    description: 'No machine has been scraped for ten minutes.',
  },
];

/** A YAML scalar that needs no thought: a JSON string is one. */
const quoted = (text: string): string => JSON.stringify(text);

const ruleText = ({ name, expression, lasts, severity, summary, description }: Alert): string =>
  [
    `      - alert: ${name}`,
    `        expr: ${quoted(expression)}`,
    ...(lasts === undefined ? [] : [`        for: ${lasts}`]),
    '        labels:',
    `          severity: ${severity}`,
    '        annotations:',
    `          summary: ${quoted(summary)}`,
    `          description: ${quoted(description)}`,
  ].join('\n');

/** A rule file for Prometheus (`rule_files:`). */
export const rulesText = (): string =>
  ['groups:', '  - name: reaptop', '    rules:', ...ALERTS.map(ruleText), ''].join('\n');
