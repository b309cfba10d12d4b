/** What is behind a socket file: somebody who accepts, nobody any more, or who knows. */
export type Acceptance = 'accepts' | 'stale' | { readonly silent: string };

/** The kernel's words for a socket file whose server is gone. */
const STALE: ReadonlySet<string | undefined> = new Set(['ECONNREFUSED', 'ENOENT', 'ENOTSOCK', 'EPROTOTYPE']);

/** Connects and hangs up. A stale socket file costs some microseconds this way, and a child process otherwise. */
export const whetherAccepts = (socket: string, timeoutMs: number): Promise<Acceptance> =>
  new Promise(answer => {
    // Loaded here and not at the top: most machines run no tmux, and a start is short.
    const { connect } = process.getBuiltinModule('node:net');
    const client = connect(socket);
    const finish = (found: Acceptance): void => {
      clearTimeout(timer);
      client.destroy();
      answer(found);
    };
    const timer = setTimeout(() => finish({ silent: 'does not accept' }), timeoutMs);
    client.on('connect', () => finish('accepts'));
    client.on('error', (error: NodeJS.ErrnoException) =>
      finish(STALE.has(error.code) ? 'stale' : { silent: error.code ?? error.message }),
    );
  });
