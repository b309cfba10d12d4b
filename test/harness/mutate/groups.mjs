/**
 * What is changed, and by which tests it is to be noticed: those that run the changed code in their own process, and
 * quickly. Tests that run `dist/` see no mutants; those that wait for real processes would wait thousands of times, so
 * pure rules are asked of pure tests only. `wanted`: the score below which the report says so, 90 by default.
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
  calls: {
    warm: true,
    mutate: ['src/judge/calls/*.ts', 'src/judge/findings/{call-hung,session-hung}.ts'],
    tests: ['judge/calls/*.test.ts', 'judge/findings/*hung*.test.ts', 'judge/plan/free-call.test.ts'],
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
    mutate: [
      'src/act/terminate/*.ts',
      'src/act/{clock,end-zombies,send-signal,signal-plan,stop-claude-session}.ts',
    ],
    tests: [
      'act/{clock,contract,newcomers,nudge,outside,send-signals,zombies}.test.ts',
      'act/terminate/*.test.ts',
    ],
  },
  record: {
    mutate: ['src/act/{execute,export-file}.ts', 'src/act/record/*.ts'],
    tests: ['act/{execute,export-file,left-something}.test.ts', 'act/record/*.test.ts'],
  },
  sweep: {
    mutate: ['src/act/sweep/*.ts', 'src/act/{held-directory,tmux}.ts'],
    tests: ['act/sweep/!(races|sweep).test.ts', 'act/tmux/*.test.ts', 'act/tmux-telling.test.ts'],
  },
  locks: {
    mutate: ['src/act/run-child.ts', 'src/hooks/exclusive-lock.ts'],
    tests: ['act/{end-tree,run-child}.test.ts', 'hooks/exclusive-lock.test.ts'],
  },
  hooks: {
    warm: true,
    mutate: ['src/hooks/{beat-command,session-heartbeat,diagnostic-lock,progress-file,session-state}.ts'],
    tests: [
      'hooks/{beat-command,session-heartbeat,diagnostic-lock,hook-log,not-ours,progress-file,session-}*.test.ts',
      'act/record/file-lock.test.ts',
    ],
  },
  settings: {
    warm: true,
    mutate: ['src/hooks/{install,settings-edit,settings-file}.ts'],
    tests: ['hooks/{install,json-insert,not-ours,settings-}*.test.ts'],
  },
  backends: {
    mutate: ['src/observe/procfs/system.ts', 'src/act/portable/*.ts'],
    tests: ['observe/contract.test.ts', 'observe/procfs/*.test.ts', 'act/portable/!(terminate).test.ts'],
  },
  events: {
    wanted: 80,
    mutate: [
      'src/hooks/{entry,handlers,pre-tool,session-end,session-start,stop}.ts',
      'src/hooks/decide/*.ts',
    ],
    tests: ['hooks/{below,build,clearing,stop}*.test.ts', 'hooks/decide/*.test.ts'],
  },
  guard: {
    warm: true,
    wanted: 80,
    mutate: ['src/guard/*.ts'],
    tests: ['guard/!(install).test.ts'],
  },
  recorder: {
    warm: true,
    wanted: 80,
    mutate: ['src/remember/**/*.ts'],
    tests: [
      'remember/**/*.test.ts',
      'guard/memory.test.ts',
      'engine/{news,time-travel}.test.ts',
      'commands/report.test.ts',
    ],
  },
  engine: {
    warm: true,
    wanted: 80,
    mutate: ['src/engine/!(load-config|config-schema|demo|prepare).ts'],
    tests: ['engine/!(config|live-heartbeats).test.ts'],
  },
  // Whom a key is about, what is read and answered before a plan runs, and every other key without a terminal.
  keys: {
    warm: true,
    wanted: 80,
    mutate: ['src/tui/{keys,plan}/*.ts'],
    tests: ['tui/keys/!(mouse).test.ts', 'tui/plan/plan*.test.{ts,tsx}', 'tui/main-keys.test.ts'],
  },
  view: {
    warm: true,
    wanted: 80,
    mutate: ['src/tui/{tree,panels,detail}/*.ts', 'src/tui/state.ts'],
    tests: [
      'tui/tree/{columns,row-list,row-name,rows,tree-keys}.test.ts',
      'tui/panels/panel-entries.test.ts',
      'tui/detail/*.test.ts',
      'tui/{main-keys,screen,state,store}.test.ts',
      'tui/keys/use-mouse.test.ts',
      'tui/plan/plan-keys.test.ts',
    ],
  },
};
