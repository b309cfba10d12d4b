import { type Reader, understood } from '../understood.ts';
import { agentOfFile, orchestratedTask } from './agent-logs.ts';

/** Prompt files and deploy logs: that they exist is all we need; what is in them is the user's business. */
export const readNothing: Reader = ({ path }) =>
  understood({ task: orchestratedTask(path), agentId: agentOfFile(path) });
