import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as gemini from './gemini.ts';
import * as messages from './messages.ts';
import * as responses from './responses.ts';
import { Scripts } from './script.ts';

const bodyOf = async (request: IncomingMessage): Promise<Record<string, unknown>> => {
  let text = '';
  for await (const piece of request.setEncoding('utf8')) text += piece as string;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
};

const json = (response: ServerResponse, value: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
};

type Endpoint = (
  body: Record<string, unknown>,
  response: ServerResponse,
  scripts: Scripts,
  path: string,
) => Promise<void> | void;

const events = (response: ServerResponse, all: readonly Record<string, unknown>[]): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const event of all) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
};

/** The APIs that the agents speak, each by the end of its address. */
const ENDPOINTS: readonly (readonly [RegExp, Endpoint])[] = [
  [/\/messages\/count_tokens$/, (_, response) => json(response, { input_tokens: 10 })],
  [
    /\/messages$/,
    async (body, response, scripts) => {
      const call = await scripts.next(messages.conversationOf(body));
      const model = String(body.model ?? 'invented');
      if (body.stream === true) events(response, messages.answer(model, call));
      else json(response, messages.wholeAnswer(model, call));
    },
  ],
  [
    /\/responses$/,
    async (body, response, scripts) =>
      events(response, responses.answer((await scripts.next(responses.conversationOf(body)))[0] ?? null)),
  ],
  [
    /:streamGenerateContent$/,
    async (body, response, scripts) => {
      const answer = gemini.answer((await scripts.next(gemini.conversationOf(body)))[0] ?? null);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: ${JSON.stringify(answer)}\n\n`);
    },
  ],
  [
    /:generateContent$/,
    async (body, response, scripts) =>
      json(response, gemini.answer((await scripts.next(gemini.conversationOf(body)))[0] ?? null)),
  ],
  [/:countTokens$/, (_, response) => json(response, { totalTokens: 10 })],
];

/** The only thing that the agents of a scene can reach: it answers as their model's API would, from scripts. */
export class StandIn {
  readonly scripts = new Scripts();
  /** What was asked for and is not served, for whoever writes a scene. */
  readonly unknown: string[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#serve(request, response);
    });
  }

  static async open(): Promise<StandIn> {
    const standIn = new StandIn();
    await new Promise<void>(done => standIn.#server.listen(0, '127.0.0.1', done));
    return standIn;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const path = (request.url ?? '').split('?')[0]!;
    const endpoint = ENDPOINTS.find(([pattern]) => pattern.test(path))?.[1];
    if (process.env.REAPTOP_REAL_DEBUG) process.stderr.write(`${request.method} ${request.url}\n`);
    if (endpoint !== undefined) return endpoint(body, response, this.scripts, path);
    this.unknown.push(`${request.method} ${path}`);
    json(response, { type: 'error', error: { type: 'not_found_error', message: 'not here' } }, 404);
  }
}
