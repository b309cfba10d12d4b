import { visible } from '../../model/text.ts';

export interface ProcessHooks {
  finish(code: number, sentence?: string): void;
  /** Gives the terminal back at once; called from the exit hook as well. */
  restore(): void;
  resume(): void;
}

/** 128 + the signal's number, as shells say it. */
const CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** The sentence for an unexpected error, wherever it was thrown. */
export const crashSentence = (error: unknown): string => {
  // It may quote a command line or a file: their escape sequences must not reach the terminal.
  const what = visible(error instanceof Error ? error.message : String(error));
  const where = process.env.REAPTOP_DEBUG
    ? `\n${(error as Error).stack ?? ''}`
    : ' Set REAPTOP_DEBUG=1 for a stack trace.';
  return `reaptop: internal error: ${what}.${where}`;
};

/** However the process ends, the terminal is given back. Returns the undoing. */
export const watchProcess = ({ finish, restore, resume }: ProcessHooks): (() => void) => {
  const handlers = new Map<string, (...args: never[]) => void>();
  // One turn later: `signal-exit`, which Ink brings, listens as well and kills the process when it finds itself alone.
  for (const [signal, code] of Object.entries(CODES))
    handlers.set(signal, () => void setImmediate(() => finish(code)));
  const crash = (error: unknown): void => finish(1, crashSentence(error));
  handlers.set('uncaughtException', crash);
  handlers.set('unhandledRejection', crash);
  handlers.set('exit', restore);
  handlers.set('SIGCONT', resume);
  for (const [event, handler] of handlers) process.on(event, handler as () => void);
  return () => {
    for (const [event, handler] of handlers) process.off(event, handler as () => void);
  };
};
