/** Words with which the orchestrator says that an agent's work is over; everything else is still at work. */
const TERMINAL = new Set(['completed', 'error', 'terminated', 'failed', 'killed', 'phase_completed']);
const ACTIVE = new Set(['running', 'working', 'blocked', 'reviewing']);

/** An unknown word is judged by the progress beside it, as the orchestrator itself does. */
export const isTerminalStatus = (status: string | null, progress: number | null): boolean => {
  const word = status?.toLowerCase() ?? '';
  if (TERMINAL.has(word)) return true;
  return !ACTIVE.has(word) && progress === 100;
};
