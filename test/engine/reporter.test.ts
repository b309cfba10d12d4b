import { existsSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Reporter } from '../../src/engine/alerts.ts';
import type { LogLine } from '../../src/engine/live-state.ts';
import { LiveStore } from '../../src/engine/live-store.ts';
import type { ActLog } from '../../src/engine/log.ts';
import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
import type { Finding } from '../../src/model/finding.ts';
import { id, snapshotOf } from '../judge/plan/machine.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const critical = (pid: number): Finding => ({
  id: 'leak',
  severity: 'critical',
  title: `${pid} leaked`,
  why: '',
  processes: [id(pid)],
  files: [],
  remedy: '',
  action: null,
});
const machine = (...findings: Finding[]) => snapshotOf([], { findings });

const reporting = ({
  command = null,
  acts = null,
  readOnly = null,
}: {
  command?: readonly string[] | null;
  acts?: readonly LogLine[] | null;
  readOnly?: string | null;
} = {}) => {
  const store = new LiveStore({ readOnly, log: [] } as never);
  const config = { ...DEFAULT_CONFIG, alerts: { ...DEFAULT_CONFIG.alerts, tmux: false, command } };
  const log = acts === null ? null : ({ next: () => acts } as unknown as ActLog);
  const reporter = new Reporter({ config, env: sandbox.env } as never, store, log);
  return { store, reporter, texts: () => store.state.log.map(({ text, tone }) => `${tone} ${text}`) };
};

describe('a look', () => {
  it('rings for what is new, and for nothing else', () => {
    const { store, reporter } = reporting();
    reporter.look(machine());
    expect(store.state.rings).toBeUndefined();
    reporter.look(machine(critical(1)));
    expect(store.state.rings).toBe(1);
    reporter.look(machine(critical(1)));
    expect(store.state.rings).toBe(1);
    reporter.look(machine(critical(1), critical(2)));
    expect(store.state.rings).toBe(2);
  });

  it('of a recorded table is logged without a bell or an alert', () => {
    const { store, reporter, texts } = reporting({ readOnly: 'recorded', command: ['/nowhere/notify'] });
    reporter.look(machine());
    reporter.look(machine(critical(1)));
    expect([store.state.rings, texts()]).toEqual([undefined, ['bad found: 1 leaked']]);
  });

  it('is told after what others did meanwhile', () => {
    const { reporter, texts } = reporting({ acts: [{ at: 1, text: 'guard: 1 ended', tone: 'plain' }] });
    reporter.look(machine(critical(1)));
    reporter.look(machine());
    expect(texts()).toEqual(['plain guard: 1 ended', 'plain guard: 1 ended', 'good resolved: 1 leaked']);
  });
});

it('a notifier that does not work is a line of the log', async () => {
  const { reporter, texts } = reporting({ command: ['/nowhere/notify'] });
  reporter.look(machine(critical(1)));
  await until('the complaint', () => texts().length > 0);
  expect(texts()).toEqual([expect.stringMatching(/^warn alerts\.command: \/nowhere\/notify did not work/)]);
});

it('a notifier that still runs is ended with it, and is no complaint', async () => {
  const script = sandbox.write(
    'notify',
    `#!/bin/sh\necho $$ > '${sandbox.path('pid')}'\nexec sleep 60\n`,
    0o755,
  );
  const { reporter, texts } = reporting({ command: [script] });
  reporter.look(machine(critical(1)));
  const pid = await until('the notifier', () => Number(readFileSync(sandbox.path('pid'), 'utf8')));
  reporter.stop();
  // Sooner than a notifier is ended for taking long.
  await until('its end', () => !existsSync(`/proc/${pid}`), { timeoutMs: 5000 });
  expect(texts()).toEqual([]);
});
