import type { Progress } from '../act/terminate/run.ts';

export interface ProgressLine {
  readonly show: (progress: Progress) => void;
  readonly clear: () => void;
}

const ERASE_LINE = '\r\x1b[2K';

/** One line that is rewritten while a person waits; silent when nobody watches. */
export const progressLine = (
  err: { write(text: string): void; readonly isTTY?: boolean },
  total: number,
): ProgressLine => {
  if (err.isTTY !== true) return { show: () => {}, clear: () => {} };
  return {
    show: progress => {
      if (progress.type === 'wait') {
        const seconds = (ms: number): string => (ms / 1000).toFixed(1);
        err.write(
          `${ERASE_LINE}waiting for ${progress.left} of ${total} (${seconds(progress.elapsedMs)} of ${seconds(progress.graceMs)} s)`,
        );
      } else if (progress.type === 'signal') {
        err.write(`${ERASE_LINE}${progress.signal} to ${progress.step.pid} ${progress.step.name}`);
      }
    },
    clear: () => err.write(ERASE_LINE),
  };
};
