import type { ReadingFormat } from '../../../src/model/heartbeat.ts';

/** One valid file of every format, as its original author writes it, at the place where it lives. */
export const SAMPLES = {
  'agent-progress': {
    path: 'specs/688_add_zombie/.agent-progress.json',
    text: `${JSON.stringify({
      session_id: 'sess_1736700000_abc123',
      task_number: 688,
      last_update: '2026-01-26T22:10:00-08:00',
      phase: 2,
      operation: 'checking_diagnostics',
      proof: 'foo_bar',
      diagnostic_calls: 7,
      skipped_diagnostics: 1,
    })}\n`,
  },
  'postflight-marker': {
    path: 'specs/259_x/.postflight-pending',
    text: `{
  "session_id": "sess_1736700000_abc123",
  "skill": "skill-lean-implementation",
  "task_number": 259,
  "operation": "implement",
  "reason": "Postflight pending: status update, artifact linking, git commit",
  "created": "2026-01-18T10:00:00Z",
  "stop_hook_active": false
}
`,
  },
  'loop-guard': { path: 'specs/259_x/.postflight-loop-guard', text: '2\n' },
  'diagnostic-lock': { path: 'specs/259_x/.diagnostic-lock', text: '' },
  'orchestrator-database': { path: '.agent-workspace/registry/state.sqlite3', text: 'SQLite format 3' },
  'return-meta': {
    path: 'specs/259_x/.return-meta.json',
    text: JSON.stringify({
      status: 'implemented',
      started_at: '2026-01-18T10:00:00Z',
      artifacts: [],
      metadata: { session_id: 'sess_1_a', agent_type: 'lean', phases_completed: 2, phases_total: 3 },
    }),
  },
  'phase-progress': {
    path: 'specs/007_y/progress/phase-2-progress.json',
    text: JSON.stringify({
      phase: 2,
      phase_name: 'Proofs',
      started_at: '2026-03-01T00:00:00Z',
      last_updated: '2026-03-01T01:00:00Z',
      objectives: [
        { id: 1, description: 'first', status: 'done' },
        { id: 2, description: 'second', status: 'in_progress' },
      ],
      current_objective: 2,
      handoff_count: 1,
    }),
  },
  'project-state': {
    path: 'specs/state.json',
    text: JSON.stringify({
      active_projects: [
        {
          project_number: 7,
          status: 'implementing',
          session_id: 'sess_7',
          last_updated: '2026-03-01T01:00:00Z',
        },
        { project_number: 8, status: 'completed' },
      ],
    }),
  },
  workflow: { path: '.claude/tmp/workflow-active', text: '688 2026-06-30T18:24:29Z\n' },
  registry: {
    path: '.agent-workspace/TASK-20251029-225000-abcdef12/AGENT_REGISTRY.json',
    text: JSON.stringify(
      {
        task_id: 'TASK-20251029-225000-abcdef12',
        task_description: 'find leaks',
        created_at: '2025-10-29T22:50:00.123456',
        client_cwd: '/home/u/p',
        status: 'INITIALIZED',
        agents: [
          {
            id: 'tester-225442-dfe9d7',
            type: 'tester',
            tmux_session: 'agent_tester-225442-dfe9d7',
            status: 'completed',
            started_at: '2025-10-29T22:54:42.123456',
            progress: 100,
            last_update: '2025-10-29T23:04:42.5',
          },
          { id: 'b-1-2', tmux_session: 'agent_b-1-2', status: 'running', progress: 0, claude_pid: 4242 },
        ],
      },
      null,
      2,
    ),
  },
  'progress-log': {
    path: '.agent-workspace/TASK-20251029-225000-abcdef12/progress/tester-225442-dfe9d7_progress.jsonl',
    text: [
      {
        timestamp: '2025-10-29T22:54:42.1',
        agent_id: 'tester-225442-dfe9d7',
        status: 'working',
        progress: 10,
      },
      {
        timestamp: '2025-10-29T22:55:42.1',
        agent_id: 'tester-225442-dfe9d7',
        status: 'working',
        message: 'reading logs',
        progress: 40,
      },
    ]
      .map(line => `${JSON.stringify(line)}\n`)
      .join(''),
  },
  'findings-log': {
    path: '.agent-workspace/TASK-20251029-225000-abcdef12/findings/tester-225442-dfe9d7_findings.jsonl',
    text: `${JSON.stringify({ timestamp: '2025-10-29T22:55:42', severity: 'high', message: 'a leak' })}\n`,
  },
  'stream-log': {
    path: '.agent-workspace/TASK-20251029-225000-abcdef12/logs/tester-225442-dfe9d7_stream.jsonl',
    text: [
      { type: 'system', subtype: 'init', session_id: 'f00' },
      { type: 'assistant', session_id: 'f00' },
      { type: 'result', subtype: 'success', is_error: false, session_id: 'f00' },
    ]
      .map(line => `${JSON.stringify(line)}\n`)
      .join(''),
  },
  prompt: {
    path: '.agent-workspace/TASK-20251029-225000-abcdef12/agent_prompt_tester-225442-dfe9d7.txt',
    text: 'You are a tester.',
  },
  'deploy-log': {
    path: '.agent-workspace/TASK-20251029-225000-abcdef12/logs/deploy_tester-225442-dfe9d7.json',
    text: '{"action": "agent_deployed"}',
  },
} as const satisfies Record<Exclude<ReadingFormat, 'transcript' | 'user'>, { path: string; text: string }>;

export type SampleFormat = keyof typeof SAMPLES;
export const SAMPLE_FORMATS = Object.keys(SAMPLES) as SampleFormat[];
