import type { Check, HealthFacts } from '../../model/health.ts';
import { claudeFiles, leanCrowd, leanServer, leanToolchain, refreshTimer } from './agents.ts';
import type { HealthCheck } from './check.ts';
import { hooks } from './hooks.ts';
import { config, inotify, pressure, sockets, state, tmux } from './machine.ts';
import { proc, processes } from './processes.ts';
import { guard, recorder } from './remembering.ts';

/** What `doctor` looks at, in the order in which it says it. */
export const HEALTH_CHECKS = {
  proc,
  processes,
  tmux,
  sockets,
  inotify,
  state,
  config,
  memory: pressure,
  hooks,
  guard,
  recorder,
  'lean-toolchain': leanToolchain,
  'lean-lsp-mcp': leanServer,
  'lean-servers': leanCrowd,
  'claude-refresh': refreshTimer,
  'claude-files': claudeFiles,
} satisfies Record<string, HealthCheck>;

export type CheckId = keyof typeof HEALTH_CHECKS;

export interface NamedCheck extends Check {
  readonly id: CheckId;
}

export const checkHealth = (facts: HealthFacts): readonly NamedCheck[] =>
  Object.entries(HEALTH_CHECKS).map(([id, check]) => ({ id: id as CheckId, ...check(facts) }));
