/** What the time line marks: moments one wants to jump to. */
export const MARKS = ['leak', 'ended', 'silent', 'peak', 'oom', 'boot'] as const;
export type MarkKind = (typeof MARKS)[number];

export interface Mark {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly mark: MarkKind;
  /** What happened, in a few words. */
  readonly text: string;
}
