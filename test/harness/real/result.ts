export interface ResultRow {
  readonly pid: number;
  readonly ppid: number;
  readonly command: string;
  /** What the scene says it is. */
  readonly what: string | null;
  readonly leak: boolean;
  /** What the product said before the clean-up. */
  readonly verdict: string | null;
  readonly why: readonly string[];
  readonly runs: boolean;
  readonly wrong: readonly string[];
}

export interface SceneResult {
  readonly rows: readonly ResultRow[];
  readonly problems: readonly string[];
  readonly notes: readonly string[];
  /** Why the scene could not be played. */
  readonly error: string | null;
}

export interface Figures {
  readonly processes: number;
  readonly leaks: number;
  readonly found: number;
  readonly liveCalledLeak: number;
  readonly liveEnded: number;
  readonly left: number;
  readonly wrong: number;
}

export const figuresOf = ({ rows, problems, error }: SceneResult): Figures => {
  const count = (predicate: (row: ResultRow) => boolean): number => rows.filter(predicate).length;
  return {
    processes: rows.length,
    leaks: count(row => row.leak),
    found: count(row => row.leak && (row.verdict === 'leak' || !row.runs)),
    liveCalledLeak: count(row => !row.leak && row.verdict === 'leak'),
    liveEnded: count(row => !row.leak && !row.runs),
    left: count(row => row.leak && row.runs),
    wrong: count(row => row.wrong.length > 0) + problems.length + (error === null ? 0 : 1),
  };
};

export const sum = (all: readonly Figures[]): Figures => {
  const total = (key: keyof Figures): number => all.reduce((so, one) => so + one[key], 0);
  return {
    processes: total('processes'),
    leaks: total('leaks'),
    found: total('found'),
    liveCalledLeak: total('liveCalledLeak'),
    liveEnded: total('liveEnded'),
    left: total('left'),
    wrong: total('wrong'),
  };
};
