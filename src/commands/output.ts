import { visible } from '../model/text.ts';

export interface Output {
  write(text: string): void;
  readonly isTTY: boolean;
}

/** Why the output went nowhere; null while it arrives. A reader that closed the pipe has read enough. */
export interface Printed extends Output {
  readonly lost: () => string | null;
  /** Nothing waits to be written, and nothing has failed: what reads a pipe slowly may have to be waited for. */
  readonly taken: () => boolean;
}

/**
 * A stream that can be lost: a closed pipe, a full disk or a size limit stops the printing, never the run.
 * Files and devices throw from `write` itself, pipes tell a tick later.
 */
export const losable = (stream: NodeJS.WriteStream, onLost: (why: string) => void = () => {}): Printed => {
  let open = true;
  let lost: string | null = null;
  const lose = (error: unknown): void => {
    if (!open) return;
    open = false;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EPIPE') return;
    lost = visible(message);
    onLost(lost);
  };
  stream.on('error', lose);
  return {
    isTTY: stream.isTTY === true,
    lost: () => lost,
    taken: () => stream.writableLength === 0 && !stream.errored,
    write(text: string): void {
      if (!open) return;
      try {
        stream.write(text);
      } catch (error) {
        lose(error);
      }
    },
  };
};
