import { randomUUID } from 'node:crypto';
import type { RawProcess } from './proc.ts';
import { childrenOf } from './proc.ts';
import type { Sandbox, StartOptions } from './sandbox.ts';
import { until } from './until.ts';

/**
 * A stand-in for claude that behaves like it where reaptop looks: it registers in `~/.claude/sessions`
 * under its pid and start time before it is called claude, hands its children the session variables,
 * and starts each argument below itself.
 */
const SCRIPT = `#!/bin/sh
if [ "$1" = --register ]; then
  session=$2; shift 2
  set_start() { shift 21; start=$1; }
  set_start $(sed 's/.*) /x x /' /proc/$$/stat)
  if [ -n "$session" ]; then
    mkdir -p "$HOME/.claude/sessions"
    printf '{"pid":%d,"sessionId":"%s","procStart":"%s","cwd":"%s","kind":"interactive","status":"busy"}' \\
      $$ "$session" "$start" "$PWD" > "$HOME/.claude/sessions/$$.json"
  fi
  exec "$(dirname "$0")/claude" --session "$session" "$@"
fi
session=$2; shift 2
for command in "$@"; do
  if [ -n "$session" ]; then CLAUDE_CODE_SESSION_ID=$session CLAUDECODE=1 sh -c "exec $command" & else sh -c "exec $command" & fi
done
sleep 86400 &
wait
`;

export interface AgentOptions extends StartOptions {
  readonly session?: string;
  /** Shell words, each started as a child. */
  readonly children?: readonly string[];
}

/** Starts the stand-in and waits until it is recognisable and its children run. */
export const startAgent = async (
  sandbox: Sandbox,
  { session = randomUUID(), children = [], ...options }: AgentOptions = {},
): Promise<RawProcess & { session: string; child: ReturnType<Sandbox['start']>['child'] }> => {
  sandbox.write('bin/claude', SCRIPT, 0o755);
  sandbox.write('bin/register-agent', SCRIPT, 0o755);
  const started = sandbox.start(
    [sandbox.path('bin/register-agent'), '--register', session, ...children],
    options,
  );
  await until('the agent to be called claude with its children below', () => {
    return childrenOf(started.pid).some(child => child.comm === 'sleep' && child.state !== 'Z'); // its own sleep comes last
  });
  return { ...started, session };
};
