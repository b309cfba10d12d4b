import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { MetricsAddress } from './metrics-address.ts';

/** A scrape is a few kilobytes: whoever takes longer than this has gone, or means no good. */
const SLOW_MS = 5000;
const MOST_CONNECTIONS = 16;

/** `/metrics` and `/-/healthy`, and nothing else. Resolves when it listens; rejects with what the system says. */
export const serveMetrics = (
  registry: Registry,
  address: MetricsAddress,
  isHealthy: () => boolean,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> => {
  const server = createServer(
    { requestTimeout: SLOW_MS, headersTimeout: SLOW_MS, keepAliveTimeout: SLOW_MS },
    (ask, answer) => {
      const send = (status: number, type: string, text: string): void => {
        answer.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
        answer.end(ask.method === 'HEAD' ? undefined : text);
      };
      answer.setTimeout(SLOW_MS, () => answer.destroy());
      // Nobody has to send us anything.
      ask.resume();
      if (ask.method !== 'GET' && ask.method !== 'HEAD') return send(405, 'text/plain', 'only GET\n');
      const path = (ask.url ?? '').split('?')[0];
      if (path === '/-/healthy')
        return isHealthy()
          ? send(200, 'text/plain', 'healthy\n')
          : send(503, 'text/plain', 'the last look is too old\n');
      if (path !== '/metrics') return send(404, 'text/plain', 'there is only /metrics and /-/healthy\n');
      void registry.metrics().then(text => send(200, registry.contentType, text));
    },
  );
  server.maxConnections = MOST_CONNECTIONS;
  server.setTimeout(SLOW_MS);
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
