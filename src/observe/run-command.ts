export type CommandResult =
  | { readonly status: 'done'; readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly status: 'missing' }
  | { readonly status: 'timeout' }
  | { readonly status: 'failed'; readonly why: string };

/** Enough for an answer of one line; a command that floods us is cut off, not buffered. */
const MOST_OUTPUT = 64 * 1024;

const CALLED_OFF = 'it was called off';

export interface CommandOptions {
  readonly timeoutMs: number;
  readonly env?: NodeJS.ProcessEnv;
  /** What it reads from its standard input; nothing when not given. */
  readonly input?: string;
  /** Ends it early. */
  readonly signal?: AbortSignal;
  /** Characters of output that are kept. */
  readonly mostOutput?: number;
  /** How its output is read; latin1 keeps a character a byte. */
  readonly encoding?: 'utf8' | 'latin1';
}

/** Runs a program of the user's by its name in PATH, without a shell, and ends it when it takes too long. */
export const runCommand = (
  command: string,
  args: readonly string[],
  {
    timeoutMs,
    env = process.env,
    input,
    signal,
    mostOutput = MOST_OUTPUT,
    encoding = 'utf8',
  }: CommandOptions,
): Promise<CommandResult> =>
  new Promise(resolve => {
    if (signal?.aborted) return resolve({ status: 'failed', why: CALLED_OFF });
    let stdout = '';
    let stderr = '';
    // Loaded here and not at the top: it costs 4 ms of a start, and most starts run nothing.
    const { spawn } = process.getBuiltinModule('node:child_process');
    const child = spawn(command, args, {
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      env,
    });
    const finish = (result: CommandResult): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', callOff);
      resolve(result);
    };
    const end = (result: CommandResult): void => {
      // What could not be started has no pid, and Node signals 0 for it: our whole process group.
      if (child.pid !== undefined) child.kill('SIGKILL');
      // What it started may still hold its output open.
      child.stdout?.destroy();
      child.stderr?.destroy();
      finish(result);
    };
    const callOff = (): void => end({ status: 'failed', why: CALLED_OFF });
    const timer = setTimeout(() => end({ status: 'timeout' }), timeoutMs);
    signal?.addEventListener('abort', callOff);
    child.stdin?.on('error', () => {}); // it ended without reading: that is its own affair
    child.stdin?.end(input);
    // Without a descriptor left there are no pipes, and the error follows.
    child.stdout?.setEncoding(encoding).on('data', (text: string) => {
      if (stdout.length < mostOutput) stdout += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (stderr.length < MOST_OUTPUT) stderr += text;
    });
    child.on('error', (error: NodeJS.ErrnoException) =>
      finish(error.code === 'ENOENT' ? { status: 'missing' } : { status: 'failed', why: error.message }),
    );
    child.on('close', code => finish({ status: 'done', code: code ?? 1, stdout, stderr }));
  });
