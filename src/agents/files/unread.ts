import { agentNamedBy, orchestratedTask } from './agent-logs.ts';
import { type FileFormat, type HowRead, NO_SIGN_OF_LIFE } from './format.ts';
import { understood } from './reader.ts';

const PROMPT = /^agent_prompt_(.+)\.txt$/;
const DEPLOY_LOG = /^deploy_(.+)\.json$/;

/** That they exist is all we need; what is in them is the user's business. */
const unread = (name: RegExp | null): HowRead => ({
  part: 'none',
  read: ({ path }) =>
    understood({
      task: orchestratedTask(path),
      agentId: name === null ? null : agentNamedBy(name, path),
    }),
});

export const prompt: FileFormat = {
  ...NO_SIGN_OF_LIFE,
  reader: unread(PROMPT),
  lies: [['task', PROMPT]],
  joins: 'agent',
  leftOver: ['abandoned'],
  swept: 'delete',
  evidence: null,
};

export const deployLog: FileFormat = {
  ...NO_SIGN_OF_LIFE,
  reader: unread(DEPLOY_LOG),
  lies: [['task-logs', DEPLOY_LOG]],
  joins: 'agent',
  leftOver: ['abandoned'],
  swept: 'archive',
  evidence: null,
};

/** `registry/state.sqlite3`: what it says is told by the registries of its tasks. */
export const orchestratorDatabase: FileFormat = {
  ...NO_SIGN_OF_LIFE,
  reader: unread(null),
  lies: [['workspace-registry', 'state.sqlite3']],
  joins: 'project',
  leftOver: [],
  swept: null,
  evidence: 'task',
};

/** An agent's own log of a session, which lies in the agent's directory. */
export const transcript: FileFormat = {
  reader: null,
  lies: [],
  joins: 'project',
  project: 'place',
  aged: 'sign',
  signOfLife: 'session',
  limits: null,
  vouchedFor: null,
  shown: true,
  telling: null,
  leftOver: [],
  swept: null,
  evidence: null,
};
