import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { MetricsAddress } from './metrics-address.ts';

/** A scrape is a few kilobytes: whoever takes longer than this has gone, or means no good. */
export const SLOW_MS = 4000;
const MOST_CONNECTIONS = 16;

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/i;
const LOOPBACK_HEADER = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/**
 * On loopback, whoever calls us by another name is a page that had its own name point here (DNS rebinding). Where the
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
    // Nobody has to send us anything.
    ask.resume();
    if (!isMeant(ask.headers.host, address)) return send(403, 'text/plain', 'ask for it by localhost\n');
    if (ask.method !== 'GET' && ask.method !== 'HEAD') return send(405, 'text/plain', 'only GET\n');
    const path = (ask.url ?? '').split('?')[0];
    if (path === '/-/healthy')
      return isHealthy()
        ? send(200, 'text/plain', 'healthy\n')
        : send(503, 'text/plain', 'the last look is too old\n');
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
