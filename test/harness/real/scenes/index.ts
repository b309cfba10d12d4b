import type { Scene } from '../stage/scene.ts';
import { OTHER_AGENTS } from './agents.ts';
import { BROWSERS } from './browsers.ts';
import { BYSTANDERS } from './bystanders.ts';
import { CALL_SCENES } from './calls.ts';
import { CLAUDE_INSIDE } from './claude-inside.ts';
import { CLAUDE_KILLED } from './claude-killed.ts';
import { CLAUDE_MOVED } from './claude-moved.ts';
import { CLAUDE_RENAMED } from './claude-renamed.ts';
import { HOOKS } from './hooks.ts';
import { PLUGIN } from './plugin.ts';
import { SERVERS } from './servers.ts';
import { SLEEP_SCENES } from './sleep.ts';
import { WORKERS } from './workers.ts';

export const SCENES: readonly Scene[] = [
  ...CLAUDE_KILLED,
  ...CLAUDE_MOVED,
  ...CLAUDE_RENAMED,
  ...CLAUDE_INSIDE,
  ...CALL_SCENES,
  ...SLEEP_SCENES,
  ...HOOKS,
  ...PLUGIN,
  ...WORKERS,
  ...OTHER_AGENTS,
  ...BROWSERS,
  ...SERVERS,
  ...BYSTANDERS,
];
