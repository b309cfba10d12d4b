/** The most that is read of an event, and how long it may take to come. */
const MOST_BYTES = 1024 ** 2;
const TICKS = 9;
const TICK_MS = 100;

export type Told =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly why: string };

/** Reads an event to its end. What comes after the most that is read is thrown away, so that nobody's pipe breaks. */
export const readEvent = (stdin: NodeJS.ReadableStream & { destroy(): void }): Promise<Told> =>
  new Promise(resolve => {
    const parts: Buffer[] = [];
    let length = 0;
    const finish = (told: Told): void => {
      clearInterval(timer);
      resolve(told);
    };
    // Counted in ticks: on a machine that is drowning the time is over before we have looked once.
    let ticks = 0;
    const timer = setInterval(() => {
      ticks += 1;
      if (ticks === TICKS) finish({ ok: false, why: 'standard input was not closed in time' });
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
