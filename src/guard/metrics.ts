import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir, userInfo } from 'node:os';
import { basename } from 'node:path';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { FINDING_IDS, SEVERITIES } from '../model/finding.ts';
import { ASKED_BY } from '../model/plan.ts';
import { isZombie, memoryOf } from '../model/process.ts';
import type { Snapshot } from '../model/snapshot.ts';
import type { AuditedAct } from './bookkeeping.ts';
import type { MetricsAddress } from './metrics-address.ts';

/** Every metric there is: the rules and the dashboard are checked against it. */
export const METRICS = {
  reaptop_processes: 'Processes that concern agents, by kind, agent family and verdict.',
  reaptop_memory_bytes: 'RSS and swap of these processes.',
  reaptop_zombies: 'Unreaped children of these processes.',
  reaptop_findings: 'Findings of the last sample, by id and severity.',
  reaptop_calls_pending: 'Tool calls of agents that have begun and have no result yet, by agent family.',
  reaptop_calls_hung: 'Those of them that have taken too long while what should work on them does nothing.',
  reaptop_heartbeat_age_seconds: 'Age of the heartbeats of running agents, by project and task.',
  reaptop_ended_total:
    'Processes that acts of reaptop dealt with since guard started, by outcome and by who asked.',
  reaptop_reclaimed_bytes_total: 'Bytes that ending processes gave back since guard started.',
  reaptop_slept_total: 'Sessions that were put to sleep since guard started.',
  reaptop_slept_bytes_total: 'Bytes that this gave back; they are in reaptop_reclaimed_bytes_total, too.',
  reaptop_sample_duration_seconds: 'How long a look took.',
  reaptop_sample_failures_total: 'Looks that failed.',
  reaptop_last_sample_timestamp_seconds: 'When the last sample was taken.',
  reaptop_policy_held: '1 while guard is held (reaptop guard allow).',
  reaptop_policy_waiting: 'Processes that guard would end but for its budget of this hour.',
  reaptop_build_info: 'Always 1; the labels describe this reaptop.',
} as const;
export type MetricName = keyof typeof METRICS;

/** Series for heartbeats: a machine with more tasks than this says so by their number alone. */
const MOST_HEARTBEATS = 100;
const LONGEST_LABEL = 64;

const gauge = <L extends string>(
  registry: Registry,
  name: MetricName,
  labelNames: readonly L[] = [],
): Gauge<L> => new Gauge({ name, help: METRICS[name], labelNames, registers: [registry] });

const counter = <L extends string>(
  registry: Registry,
  name: MetricName,
  labelNames: readonly L[] = [],
): Counter<L> => new Counter({ name, help: METRICS[name], labelNames, registers: [registry] });

/** The last part of a path says which project it is. */
const projectOf = (path: string): string => {
  const parts = path.split('/').filter(part => part !== '');
  const specs = parts.findIndex(
    part => part === 'specs' || part === '.agent-workspace' || part === '.claude',
  );
  const at = specs > 0 ? specs - 1 : parts.length - 2;
  // Directly below /home or /Users, wherever that is mounted, it would be a user's name.
  return at < 1 || /^(home|users)$/i.test(parts[at - 1] ?? '') ? '' : (parts[at] ?? '');
};

/** UUIDs, `sess_…`, and any long run of hexadecimal digits. */
const SESSION_ID = /\bses(s|sion)?[_-]\w|[0-9a-f]{8}-[0-9a-f]{4}-|[0-9a-f]{16}/i;
/** Shorter ones would be in every word. */
const SHORTEST_ID = 6;

/** Who runs us, by the names that a path may have. */
const ownNames = (): readonly string[] => {
  const home = basename(homedir());
  try {
    return [userInfo().username, home].filter(name => name !== '');
  } catch {
    return home === '' ? [] : [home]; // a uid without a name
  }
};

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** A label that any scraper may see: empty when it names a user or a session. */
const labeller = (users: readonly string[], snapshot: Snapshot): ((text: string) => string) => {
  const named = users.map(user => new RegExp(`(?<![\\p{L}\\p{N}])${escaped(user)}(?![\\p{L}\\p{N}])`, 'iu'));
  const told = [
    ...snapshot.heartbeats.map(({ sessionId }) => sessionId),
    ...snapshot.processes.flatMap(({ session, owner }) => [session?.id, owner?.sessionId]),
  ];
  const ids = [...new Set(told)].filter(id => id != null && id.length >= SHORTEST_ID) as readonly string[];
  return text =>
    SESSION_ID.test(text) || named.some(name => name.test(text)) || ids.some(id => text.includes(id))
      ? ''
      : text.slice(0, LONGEST_LABEL);
};

export class Metrics {
  readonly registry = new Registry();
  readonly #processes = gauge(this.registry, 'reaptop_processes', ['kind', 'agent', 'verdict']);
  readonly #memory = gauge(this.registry, 'reaptop_memory_bytes', ['kind', 'agent', 'verdict']);
  readonly #zombies = gauge(this.registry, 'reaptop_zombies');
  readonly #findings = gauge(this.registry, 'reaptop_findings', ['id', 'severity']);
  readonly #pending = gauge(this.registry, 'reaptop_calls_pending', ['agent']);
  readonly #hung = gauge(this.registry, 'reaptop_calls_hung', ['agent']);
  readonly #heartbeats = gauge(this.registry, 'reaptop_heartbeat_age_seconds', ['project', 'task']);
  readonly #ended = counter(this.registry, 'reaptop_ended_total', ['outcome', 'by']);
  readonly #reclaimed = counter(this.registry, 'reaptop_reclaimed_bytes_total');
  readonly #slept = counter(this.registry, 'reaptop_slept_total');
  readonly #sleptBytes = counter(this.registry, 'reaptop_slept_bytes_total');
  readonly #duration = new Histogram({
    name: 'reaptop_sample_duration_seconds' satisfies MetricName,
    help: METRICS.reaptop_sample_duration_seconds,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers: [this.registry],
  });
  readonly #failures = counter(this.registry, 'reaptop_sample_failures_total');
  readonly #last = gauge(this.registry, 'reaptop_last_sample_timestamp_seconds');
  readonly #held = gauge(this.registry, 'reaptop_policy_held');
  readonly #waiting = gauge(this.registry, 'reaptop_policy_waiting');

  readonly #users: readonly string[];

  constructor(build: { readonly version: string; readonly platform: string }, users = ownNames()) {
    this.#users = users;
    gauge(this.registry, 'reaptop_build_info', ['version', 'platform', 'node']).set(
      { ...build, node: process.versions.node },
      1,
    );
  }

  update(look: {
    readonly snapshot: Snapshot | null;
    readonly durationMs: number;
    readonly audited: readonly AuditedAct[];
    readonly held: unknown;
    readonly waiting: number;
  }): void {
    this.#duration.observe(look.durationMs / 1000);
    this.#held.set(look.held === null ? 0 : 1);
    this.#waiting.set(look.waiting);
    this.#count(look.audited);
    if (look.snapshot === null) this.#failures.inc();
    else this.#show(look.snapshot);
  }

  #count(audited: readonly AuditedAct[]): void {
    for (const { event, by, outcomes, freed, slept } of audited) {
      if (event !== 'outcome') continue;
      for (const [outcome, count] of Object.entries(outcomes))
        this.#ended.inc({ outcome, by: ASKED_BY.find(known => known === by) ?? 'other' }, count);
      this.#reclaimed.inc(freed);
      this.#slept.inc(slept);
      if (slept > 0) this.#sleptBytes.inc(freed);
    }
  }

  #show(snapshot: Snapshot): void {
    for (const metric of [this.#processes, this.#memory, this.#pending, this.#hung, this.#heartbeats])
      metric.reset();
    for (const p of snapshot.processes) {
      if (!p.related || isZombie(p.facts)) continue;
      const labels = { kind: p.kind, agent: p.agent ?? '', verdict: p.verdict };
      this.#processes.inc(labels, 1);
      this.#memory.inc(labels, memoryOf(p.facts));
      if (p.session === null) continue;
      // Zero and not absent: an alert must see that a hang is over.
      const { calls = [] } = p.session;
      const agent = { agent: p.agent ?? '' };
      this.#pending.inc(agent, calls.length);
      this.#hung.inc(agent, calls.filter(call => call.hung === true).length);
    }
    this.#zombies.set(snapshot.totals.zombies);
    // Zero and not absent: an alert must see that a finding is over.
    for (const id of FINDING_IDS)
      for (const severity of SEVERITIES)
        this.#findings.set(
          { id, severity },
          snapshot.findings.filter(finding => finding.id === id && finding.severity === severity).length,
        );
    const label = labeller(this.#users, snapshot);
    // What has the same labels is one series: the latest of them counts, which is set last.
    const beats = snapshot.heartbeats.slice(0, MOST_HEARTBEATS).filter(({ agent }) => agent !== null);
    for (const { path, task, ageSeconds } of beats.sort((a, b) => (a.ageSeconds ?? 0) - (b.ageSeconds ?? 0)))
      if (ageSeconds !== null)
        this.#heartbeats.set({ project: label(projectOf(path)), task: label(task ?? '') }, ageSeconds);
    this.#last.set(snapshot.takenAt / 1000);
  }
}

/** A scrape is a few kilobytes: a client that takes longer is gone or hostile. */
export const SLOW_MS = 4000;
const MOST_CONNECTIONS = 16;

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/i;
const LOOPBACK_HEADER = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/**
 * On loopback, a request with another host name comes from a page whose name points here (DNS rebinding). Where the
 * user named a host, others may reach it by any name.
 */
const isMeant = (header: string | undefined, { host }: MetricsAddress): boolean =>
  !LOOPBACK.test(host) || LOOPBACK_HEADER.test(header ?? '');

/** `/metrics` and `/-/healthy`, and nothing else. Resolves when it listens; rejects with what the system says. */
export const serveMetrics = (
  registry: Registry,
  address: MetricsAddress,
  isHealthy: () => boolean,
  slowMs = SLOW_MS,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> => {
  const server = createServer((ask, answer) => {
    const send = (status: number, type: string, text: string): void => {
      const length = Buffer.byteLength(text);
      answer.writeHead(status, { 'content-type': type, 'content-length': length, connection: 'close' });
      answer.end(ask.method === 'HEAD' ? undefined : text);
    };
    // No client needs to send a body.
    ask.resume();
    if (!isMeant(ask.headers.host, address)) return send(403, 'text/plain', 'ask for it by localhost\n');
    if (ask.method !== 'GET' && ask.method !== 'HEAD') return send(405, 'text/plain', 'only GET\n');
    const path = (ask.url ?? '').split('?')[0];
    if (path === '/-/healthy')
      return isHealthy()
        ? send(200, 'text/plain', 'healthy\n')
        : send(503, 'text/plain', 'the last sample is too old\n');
    if (path !== '/metrics') return send(404, 'text/plain', 'there is only /metrics and /-/healthy\n');
    void registry.metrics().then(text => send(200, registry.contentType, text));
  });
  server.maxConnections = MOST_CONNECTIONS;
  // From the first byte to the last, however busily they trickle: timeouts of idleness never come then.
  server.on('connection', socket => {
    const timer = setTimeout(() => socket.destroy(), slowMs);
    socket.once('close', () => clearTimeout(timer));
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, () => {
      server.removeListener('error', reject);
      // A broken connection is the other side's affair.
      server.on('error', () => {});
      resolve({ url: urlOf(server, address.host), close: () => closed(server) });
    });
  });
};

const urlOf = (server: Server, host: string): string => {
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}/metrics`;
};

const closed = (server: Server): Promise<void> =>
  new Promise(resolve => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
