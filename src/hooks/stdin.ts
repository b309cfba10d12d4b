import { fstatSync, readSync } from 'node:fs';

/** The most that is read of an event, and how long it may take to come. */
const MOST_BYTES = 1024 ** 2;
const TICKS = 9;
const TICK_MS = 100;

export type HookStdin =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly why: string };

/**
 * A file's end is there from the start: it is read at once. Node hands files to threads of its own, and on a machine
 * that is drowning these may not run before the time is over.
 */
const readFile = (fd: number): HookStdin | null => {
  try {
    if (!fstatSync(fd).isFile()) return null;
    const buffer = Buffer.alloc(MOST_BYTES + 1);
    let length = 0;
    for (let got = 1; got > 0 && length < buffer.length; length += got)
      got = readSync(fd, buffer, length, buffer.length - length, null);
    return length > MOST_BYTES
      ? { ok: false, why: `the event has more than ${MOST_BYTES} bytes` }
      : { ok: true, text: buffer.toString('utf8', 0, length) };
  } catch {
    return null; // closed, or not readable in one go: use the stream
  }
};

/** Reads an event to its end. What comes after the most that is read is discarded, so that the writer's pipe does not break. */
export const readEvent = async (): Promise<HookStdin> => readFile(0) ?? readStream(process.stdin);

const readStream = (stdin: NodeJS.ReadableStream): Promise<HookStdin> =>
  new Promise(resolve => {
    const parts: Buffer[] = [];
    let length = 0;
    const finish = (told: HookStdin): void => {
      clearInterval(timer);
      resolve(told);
    };
    // Counted in ticks: on a machine that is drowning the time is over before we have looked once.
    let ticks = 0;
    const timer = setInterval(() => {
      ticks += 1;
      // What has come meanwhile is looked at once more before it is given up.
      if (ticks === TICKS)
        setImmediate(() => finish({ ok: false, why: 'standard input was not closed in time' }));
    }, TICK_MS);
    stdin.on('data', (part: Buffer) => {
      length += part.length;
      if (length <= MOST_BYTES) parts.push(part);
      else parts.length = 0;
    });
    stdin.on('error', (error: Error) => finish({ ok: false, why: error.message }));
    stdin.on('end', () =>
      finish(
        length > MOST_BYTES
          ? { ok: false, why: `the event has ${length} bytes` }
          : { ok: true, text: Buffer.concat(parts).toString('utf8') },
      ),
    );
  });
