import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { reaptop } from '../support/cli.ts';
import { startGuard, stopGuard } from '../support/guard.ts';
import { orphan } from '../support/orphan.ts';
import { needsPrometheus } from '../support/prometheus.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

/** A port that nobody listens on just now. */
const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });

const SCRAPE_SECONDS = 1;

test('a real Prometheus scrapes guard, and the leak alert fires within two scrapes of a leak made on purpose', async () => {
  needsPrometheus();
  const [port, own] = [await freePort(), await freePort()];
  // Reports only: the alert must be seen, not the clean-up.
  const guard = await startGuard(sandbox, { policy: { leaks: false }, args: ['--metrics', String(port)] });
  const { stdout: rules } = await reaptop(sandbox, ['guard', 'print', 'rules']);
  const config = sandbox.write(
    'prometheus.yml',
    `global: { scrape_interval: ${SCRAPE_SECONDS}s, evaluation_interval: ${SCRAPE_SECONDS}s }
rule_files: [${sandbox.write('reaptop-rules.yml', rules)}]
scrape_configs:
  - job_name: reaptop
    static_configs: [{ targets: ['127.0.0.1:${port}'] }]
`,
  );
  mkdirSync(sandbox.path('tsdb'));
  const prometheus = sandbox.start(
    [
      'prometheus',
      `--config.file=${config}`,
      `--storage.tsdb.path=${sandbox.path('tsdb')}`,
      `--web.listen-address=127.0.0.1:${own}`,
    ],
    { stdio: 'pipe' },
  );
  let said = '';
  prometheus.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ask = async <T>(path: string): Promise<T> =>
    ((await (await fetch(`http://127.0.0.1:${own}/api/v1/${path}`)).json()) as { data: T }).data;
  const value = async (query: string): Promise<number | null> => {
    const { result } = await ask<{ result: { value: [number, string] }[] }>(
      `query?query=${encodeURIComponent(query)}`,
    );
    return result[0] === undefined ? null : Number(result[0].value[1]);
  };
  const firing = async (): Promise<string[]> =>
    (await ask<{ alerts: { state: string; labels: { alertname: string } }[] }>('alerts')).alerts
      .filter(({ state }) => state === 'firing')
      .map(({ labels }) => labels.alertname);

  await until(
    `Prometheus to have scraped guard: ${said}`,
    async () => (await value('reaptop_build_info')) === 1,
  );
  expect(await firing()).not.toContain('ReaptopLeak');
  await orphan(sandbox, `${sandbox.sleeper('mcp-server-files')} 600`, {
    CLAUDE_CODE_SESSION_ID: 'gone',
    CLAUDECODE: '1',
  });
  const scrapes = async (): Promise<number> => (await value('count_over_time(up{job="reaptop"}[1h])')) ?? 0;
  await until('guard to tell of the leak', async () =>
    /reaptop_processes\{[^}]*verdict="leak"\} [1-9]/.test(
      await (await fetch(`http://127.0.0.1:${port}/metrics`)).text(),
    ),
  );
  const before = await scrapes();
  await until('the alert to fire', async () => (await firing()).includes('ReaptopLeak'));
  // Two scrapes, and one that came between firing and asking.
  expect((await scrapes()) - before).toBeLessThanOrEqual(3);
  await stopGuard(guard);
});
