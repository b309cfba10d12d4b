import type { ClaudeRecords } from '../model/observation.ts';
import { readClaudeRosters } from '../observe/files/claude-roster.ts';
import { readClaudeSessions } from '../observe/files/claude-sessions.ts';

/** What Claude writes about its sessions, in the foreground and in the background. */
export const readClaudeRecords = (configDirs: readonly string[]): ClaudeRecords => {
  const { sessions, strange } = readClaudeSessions(configDirs);
  const rosters = readClaudeRosters(configDirs);
  return { sessions, workers: rosters.workers, strange: [...strange, ...rosters.strange] };
};
