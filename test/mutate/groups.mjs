/**
 * What is changed, and by which tests it is to be noticed: those that run the changed code in their own process, and
 * quickly. Tests that run `dist/` see no mutants; those that wait for real processes would wait thousands of times, so
 * pure rules are asked of pure tests only. `wanted`: the score below which the report says so, 90 unless told.
 */
export const GROUPS = {
  rules: {
    warm: true,
    mutate: ['src/judge/rules/*.ts'],
    tests: ['judge/rules/**/*.test.ts', 'judge/plan/end.test.ts'],
  },
  plans: {
    warm: true,
    mutate: ['src/judge/plan/**/*.ts'],
    tests: ['judge/plan/**/*.test.ts'],
  },
  files: {
    warm: true,
    mutate: ['src/judge/heartbeats/*.ts'],
    tests: [
      'judge/heartbeats/{findings,heartbeats,join,left-over,one-owner,shown}.test.ts',
      'judge/plan/{fix-files,sweep*}.test.ts',
    ],
  },
  terminate: {
    warm: true,
    mutate: ['src/act/{terminate,signal,zombies}/*.ts', 'src/act/{clock,claude-stop}.ts'],
    tests: ['act/{clock,contract,newcomers,outside}.test.ts', 'act/{signal,terminate,zombies}/*.test.ts'],
  },
  record: {
    mutate: ['src/act/{export-file,left-something,perform}.ts', 'src/act/record/*.ts'],
    tests: ['act/{export-file,left-something,perform}.test.ts', 'act/record/*.test.ts'],
  },
  sweep: {
    mutate: ['src/act/{sweep,tmux}/*.ts'],
    tests: ['act/sweep/{attacks,*.mocked}.test.ts', 'act/tmux/*.test.ts'],
  },
  locks: {
    mutate: ['src/act/children/*.ts', 'src/act/hooks/{build-holder,build-lock}.ts'],
    tests: ['act/children/*.test.ts', 'act/hooks/build-lock*.mocked.test.ts'],
  },
  hooks: {
    warm: true,
    mutate: [
      'src/act/hooks/{diagnostic-lock,hook-log,owed-counts,progress-file,session-prune,session-state,short-lock}.ts',
    ],
    tests: [
      'act/hooks/{diagnostic-lock,hook-log,not-ours,progress-file,session-prune,session-state,short-lock,vanishing}*.test.ts',
      'act/record/file-lock.mocked.test.ts',
      'commands/beat.test.ts',
    ],
  },
  settings: {
    warm: true,
    mutate: ['src/act/hooks/{json-insert,settings-edit,settings-file}.ts'],
    tests: ['act/hooks/{json-insert,not-ours,settings-}*.test.ts', 'commands/hook/install.test.ts'],
  },
  backends: {
    mutate: ['src/observe/procfs/system.ts', 'src/act/portable/*.ts'],
    tests: [
      'observe/contract.test.ts',
      'observe/procfs/*.test.ts',
      'act/portable/{sweep-order.mocked,tree-kill.mocked,tree-sweep}.test.ts',
    ],
  },
  events: {
    wanted: 80,
    mutate: ['src/commands/hook/*.ts', 'src/judge/hooks/*.ts'],
    tests: ['commands/hook/*.test.ts', 'judge/hooks/*.test.ts'],
  },
  guard: {
    warm: true,
    wanted: 80,
    mutate: ['src/guard/*.ts'],
    tests: ['guard/{account,guard,hold,memory,metrics,pauses,policy,sweeping}.test.ts'],
  },
  recorder: {
    warm: true,
    wanted: 80,
    mutate: ['src/remember/**/*.ts'],
    tests: [
      'remember/**/*.test.ts',
      'guard/memory.test.ts',
      'live/{news,time-travel}.test.ts',
      'commands/report.test.ts',
    ],
  },
  live: {
    warm: true,
    wanted: 80,
    mutate: ['src/live/!(demo).ts'],
    tests: ['live/!(live-heartbeats).test.ts'],
  },
  // Whom a key is about, and what is read and answered before a plan runs.
  asking: {
    warm: true,
    wanted: 80,
    mutate: [
      'src/tui/plan-question.ts',
      'src/tui/content/plan.ts',
      'src/tui/keys/{actions-acting,clicks,mouse-report,reasons}.ts',
      'src/tui/view/{clickable,keep-selected,settling,subject}.ts',
    ],
    tests: [
      'tui/keys/{actions-acting,clicks,mouse-report,reasons}.test.ts',
      'tui/view/{clickable,keep-selected,panel-entries,subject}.test.ts',
      'tui/content/plan.test.ts',
      'tui/plan-question.test.ts',
    ],
  },
  view: {
    warm: true,
    wanted: 80,
    mutate: ['src/tui/view/!(clickable|keep-selected|settling|subject).ts'],
    tests: ['tui/view/*.test.ts'],
  },
  tui: {
    warm: true,
    wanted: 80,
    mutate: ['src/tui/keys/!(actions-acting|clicks|mouse-report|reasons).ts'],
    tests: ['tui/keys/*.test.ts', 'tui/{acting,mouse,selection,taking}.test.ts'],
  },
};
