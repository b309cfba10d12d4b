import { spawnSync } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { homedir } from 'node:os';
import { basename } from 'node:path';
import { Gauge } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ALERTS, rulesText } from '../../src/guard/alert-rules.ts';
import { DASHBOARD_PANELS, dashboardText } from '../../src/guard/dashboard.ts';
import { METRICS, Metrics, SLOW_MS, serveMetrics } from '../../src/guard/metrics.ts';
import { addressText, parseAddress } from '../../src/guard/metrics-address.ts';
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
      slept: 2,
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
    expect(text).toContain('reaptop_slept_total 2');
    expect(text).toContain('reaptop_slept_bytes_total 4096');
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

  test.each([
    ['/home/ada/site/specs/1_x/.agent-progress.json', '1', 'site', '1'],
    ['/home/ada/specs/1_x/.agent-progress.json', '1', '', '1'],
    ['/var/home/grace/specs/1_x/.agent-progress.json', '1', '', '1'],
    ['/Users/grace/.claude/x.json', '1', '', '1'],
    ['/mnt/ada/specs/1_x/.agent-progress.json', '1', '', '1'],
    ['/tmp/claude-1000/-home-ada-site/.agent-progress.json', 'site of Ada', '', ''],
    ['/srv/adastra/specs/1/.agent-progress.json', 'canada', 'adastra', 'canada'],
    ['/srv/9c33ca78-1244-4e57-8cc8-184e144261c7/specs/1/x.json', 'sess_1a2b3c', '', ''],
    ['/srv/my-session/specs/1/x.json', 'work of the-very-session', '', ''],
    ['/srv/site/specs/1/x.json', 'session ends', 'site', 'session ends'],
  ])('%s, task %s: project "%s", task "%s"', async (path, task, project, shown) => {
    const moment = momentAt(0);
    const [beat] = moment.heartbeats;
    const heartbeats = [{ ...beat!, path, task, sessionId: 'the-very-session' }];
    const processes = moment.processes.map(p =>
      p.session === null ? p : { ...p, session: { ...p.session, id: 'my-session' } },
    );
    const metrics = new Metrics({ version: '1', platform: 'procfs' }, ['ada', 'a.b_c-d']);
    metrics.update(look({ ...moment, heartbeats, processes }));
    expect(await metrics.registry.metrics()).toContain(
      `reaptop_heartbeat_age_seconds{project="${project}",task="${shown}"} 12`,
    );
  });

  test('show the oldest of heartbeats with the same labels', async () => {
    const moment = momentAt(0);
    const [beat] = moment.heartbeats;
    const heartbeats = [90, 400, 12].map(ageSeconds => ({ ...beat!, ageSeconds }));
    expect(await textOf({ ...moment, heartbeats })).toContain(
      'reaptop_heartbeat_age_seconds{project="project",task="688"} 400',
    );
  });

  test('know this user by name', async () => {
    const moment = momentAt(0);
    const [beat] = moment.heartbeats;
    const path = `/srv/${basename(homedir())}/specs/688/.agent-progress.json`;
    expect(await textOf({ ...moment, heartbeats: [{ ...beat!, path }] })).toContain(
      '{project="",task="688"}',
    );
  });

  test('name who asked only when it is one of ours', async () => {
    const metrics = new Metrics({ version: '1', platform: 'procfs' });
    const [act] = look(null).audited;
    metrics.update({ ...look(null), audited: [{ ...act!, by: 'ada@host' }] });
    expect(await metrics.registry.metrics()).toContain('reaptop_ended_total{outcome="ended",by="other"} 2');
  });

  test('are bounded for a hundred heartbeats and more', async () => {
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
    ...DASHBOARD_PANELS.flatMap(({ queries }) => queries.map(({ expression }) => expression)),
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

  test('serves metrics and health on loopback, and 404 elsewhere', async () => {
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
    } finally {
      await server.close();
    }
  });

  const raw = (url: string): Socket => connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
  const closed = (socket: Socket): Promise<unknown> => new Promise(done => socket.once('close', done));
  /** All that comes back before the other side hangs up. */
  const answered = async (socket: Socket): Promise<string> => {
    let text = '';
    socket.setEncoding('utf8').on('data', (more: string) => (text += more));
    await closed(socket);
    return text;
  };

  test.each([
    ['localhost', 200],
    ['LOCALHOST:9101', 200],
    ['127.0.0.1:9101', 200],
    ['[::1]:9101', 200],
    ['evil.example', 403],
    ['localhost.evil.example:9101', 403],
    ['127.0.0.1.evil.example', 403],
    ['', 403],
  ])('on loopback, asked for as "%s": %d', async (host, code) => {
    const { registry } = new Metrics({ version: '1', platform: 'x' });
    const server = await serveMetrics(registry, { host: '127.0.0.1', port: 0 }, () => true);
    try {
      const socket = raw(server.url);
      socket.write(`GET /metrics HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      expect(await answered(socket)).toMatch(new RegExp(`^HTTP/1.1 ${code} `));
    } finally {
      await server.close();
    }
  });

  test('on a host that the user named it may be asked for by any name', async () => {
    const { registry } = new Metrics({ version: '1', platform: 'x' });
    const server = await serveMetrics(registry, { host: '0.0.0.0', port: 0 }, () => true);
    try {
      const socket = raw(server.url);
      socket.write('GET /metrics HTTP/1.1\r\nHost: box.lan:9101\r\n\r\n');
      expect(await answered(socket)).toMatch(/^HTTP\/1.1 200 /);
    } finally {
      await server.close();
    }
  });

  test('drops whoever is slow, also one that never stops to trickle, and one that never reads', async () => {
    expect(SLOW_MS).toBeLessThan(5000);
    const { registry } = new Metrics({ version: '1', platform: 'x' });
    // More than the kernel takes for somebody who does not read.
    new Gauge({ name: 'reaptop_large', help: 'x'.repeat(30e6), registers: [registry] }).set(1);
    const server = await serveMetrics(registry, { host: '127.0.0.1', port: 0 }, () => true, 300);
    try {
      const silent = raw(server.url);
      silent.write('GET /metrics HTTP/1.1\r\n');
      const trickling = raw(server.url);
      const tap = setInterval(() => trickling.write('x'), 10);
      trickling.write('GET /metrics HTTP/1.1\r\nx: ');
      const deaf = raw(server.url).pause();
      deaf.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await Promise.all([closed(silent), closed(trickling)]);
      clearInterval(tap);
      // It notices only when it reads: what the kernel held for it, and then the end, long before all of it.
      let got = 0;
      deaf.on('data', (more: Buffer) => (got += more.length)).resume();
      await closed(deaf);
      expect(got).toBeLessThan(30e6);
    } finally {
      await server.close();
    }
  });
});
