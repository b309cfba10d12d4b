import { spawnSync } from 'node:child_process';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { dashboardText, PANELS } from '../../src/guard/fleet/dashboard.ts';
import { ALERTS, rulesText } from '../../src/guard/fleet/rules.ts';
import { METRICS, Metrics } from '../../src/guard/metrics.ts';
import { addressText, parseAddress } from '../../src/guard/metrics-address.ts';
import { serveMetrics } from '../../src/guard/metrics-server.ts';
import { momentAt } from '../remember/recorder/machine.ts';
import { needsPrometheus } from '../support/prometheus.ts';
import { Sandbox } from '../support/sandbox.ts';

const look = (snapshot: ReturnType<typeof momentAt> | null) => ({
  snapshot,
  durationMs: 12,
  audited: [
    {
      at: 0,
      event: 'outcome' as const,
      by: 'clean',
      roots: 0,
      outcomes: { ended: 2, killed: 1 },
      freed: 4096,
    },
  ],
  held: null,
  waiting: 0,
});

const textOf = async (...moments: readonly (ReturnType<typeof momentAt> | null)[]): Promise<string> => {
  const metrics = new Metrics({ version: '1', platform: 'procfs' });
  for (const moment of moments) metrics.update(look(moment));
  return metrics.registry.metrics();
};

const promtool = (args: readonly string[], input?: string) => {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return { status, said: stdout + stderr };
};

describe('metrics', () => {
  test('tell processes and memory by kind, agent and verdict', async () => {
    const text = await textOf(momentAt(0));
    expect(text).toContain('reaptop_processes{kind="agent",agent="claude",verdict="live"} 1');
    expect(text).toMatch(/reaptop_processes\{kind="[a-z]+",agent="",verdict="leak"\} 1/);
    expect(text).toContain('reaptop_memory_bytes{kind="agent",agent="claude",verdict="live"} 400000000');
    expect(text).toContain('reaptop_findings{id="leak",severity="warn"} 1');
    expect(text).toContain('reaptop_ended_total{outcome="ended",by="clean"} 2');
    expect(text).toContain('reaptop_reclaimed_bytes_total 4096');
  });

  test('forget what is no more, and count a look that failed', async () => {
    const gone = { ...momentAt(10), processes: [], findings: [], heartbeats: [] };
    const text = await textOf(momentAt(0), gone, null);
    expect(text).not.toContain('kind="agent"');
    expect(text).toContain('reaptop_findings{id="leak",severity="warn"} 0');
    expect(text).toContain('reaptop_sample_failures_total 1');
  });

  test('are exactly those that are promised, and nothing of paths, sessions or commands is in a label', async () => {
    const text = await textOf(momentAt(0));
    const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(match => match[1]);
    expect(names.sort()).toEqual(Object.keys(METRICS).sort());
    for (const secret of ['/home', 'npx', 'playwright', 'sécret', '.json'])
      expect(text).not.toContain(secret);
    expect(text).toContain('reaptop_heartbeat_age_seconds{project="project",task="688"} 12');
  });

  test('of a hundred heartbeats and more are bounded', async () => {
    const moment = momentAt(0);
    const heartbeats = Array.from({ length: 500 }, (_, n) => ({ ...moment.heartbeats[0]!, task: `t${n}` }));
    const text = await textOf({ ...moment, heartbeats });
    expect(text.match(/^reaptop_heartbeat_age_seconds\{/gm)).toHaveLength(100);
  });

  test('pass promtool check metrics', async () => {
    needsPrometheus();
    expect(promtool(['check', 'metrics'], await textOf(momentAt(0)))).toEqual({ status: 0, said: '' });
  });
});

describe('rules and dashboard', () => {
  let sandbox: Sandbox;
  beforeEach(() => {
    sandbox = new Sandbox();
  });
  afterEach(() => sandbox.close());

  const SUFFIX = /_(?:bucket|sum|count)$/;
  const expressions = [
    ...ALERTS.map(({ expression }) => expression),
    ...PANELS.flatMap(({ queries }) => queries.map(({ expression }) => expression)),
  ];

  test('name only metrics that guard has', () => {
    for (const expression of expressions)
      for (const [name] of expression.matchAll(/reaptop_\w+/g))
        expect(Object.keys(METRICS)).toContain(name.replace(SUFFIX, ''));
  });

  test('every metric is in an alert or on the dashboard', () => {
    const all = expressions.join(' ');
    for (const name of Object.keys(METRICS)) expect(all).toContain(name);
  });

  test('pass promtool check rules, the expressions of the dashboard too', () => {
    needsPrometheus();
    const rules = sandbox.write('rules.yml', rulesText());
    expect(promtool(['check', 'rules', rules])).toMatchObject({ status: 0 });
    const panels = expressions.map(
      (expression, n) => `      - record: e${n}\n        expr: ${JSON.stringify(expression)}`,
    );
    const asRules = sandbox.write(
      'panels.yml',
      `groups:\n  - name: panels\n    rules:\n${panels.join('\n')}\n`,
    );
    expect(promtool(['check', 'rules', asRules])).toMatchObject({ status: 0 });
  });

  test('the dashboard is JSON whose panels do not overlap', () => {
    const { panels } = JSON.parse(dashboardText()) as {
      panels: { id: number; gridPos: { x: number; y: number; w: number; h: number } }[];
    };
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w }, (_, dx) => `${x + dx},${y}`).concat(x + w <= 24 && h > 0 ? [] : ['outside']),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(cells).not.toContain('outside');
  });
});

describe('the metrics server', () => {
  test.each([
    ['9101', { host: '127.0.0.1', port: 9101 }],
    ['0.0.0.0:9101', { host: '0.0.0.0', port: 9101 }],
    ['[::1]:9101', { host: '::1', port: 9101 }],
    ['box.lan:80', { host: 'box.lan', port: 80 }],
    ['65536', null],
    ['http://x:1', null],
    ['', null],
    ['-1', null],
    [':9101', null],
  ])('%s is %j', (text, address) => expect(parseAddress(text)).toEqual(address));

  test.each(['127.0.0.1:9101', 'box:80', '[::1]:9101'])('%s is written as it is read', text =>
    expect(addressText(parseAddress(text)!)).toBe(text),
  );

  test('serves metrics and health on loopback, 404 elsewhere, and drops who does not listen', async () => {
    let healthy = true;
    const { registry } = new Metrics({ version: '1', platform: 'x' });
    const server = await serveMetrics(registry, { host: '127.0.0.1', port: 0 }, () => healthy);
    try {
      const get = (path: string, method = 'GET') => fetch(new URL(path, server.url), { method });
      expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
      const answer = await get('/metrics');
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        200,
        expect.stringContaining('text/plain'),
      ]);
      expect(await answer.text()).toContain('reaptop_build_info');
      expect((await get('/-/healthy')).status).toBe(200);
      healthy = false;
      expect((await get('/-/healthy')).status).toBe(503);
      expect((await get('/')).status).toBe(404);
      expect((await get('/metrics/../latest.json')).status).toBe(404);
      expect((await get('/metrics', 'POST')).status).toBe(405);
      const slow = connect(Number(new URL(server.url).port), '127.0.0.1');
      slow.write('GET /metrics HTTP/1.1\r\n'); // and never the rest
      await new Promise(resolve => slow.once('close', resolve));
    } finally {
      await server.close();
    }
  });
});
