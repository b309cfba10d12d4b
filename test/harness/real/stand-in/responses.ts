import type { Conversation, ToolCall } from './script.ts';

interface Item {
  readonly type?: string;
  readonly role?: string;
  readonly content?: readonly { readonly text?: string }[];
  readonly output?: unknown;
}

const textOf = ({ content = [] }: Item): string => content.map(({ text = '' }) => text).join('\n');

/** The Responses API's form of a conversation. */
export const conversationOf = ({ input = [] }: { readonly input?: readonly Item[] }): Conversation => {
  const asked = input.findLastIndex(item => item.role === 'user' && textOf(item).includes('play:'));
  const told = input
    .slice(asked + 1)
    .filter(({ type }) => type?.endsWith('_call_output'))
    .map(({ output }) => (typeof output === 'string' ? output : JSON.stringify(output)));
  return { request: asked < 0 ? '' : textOf(input[asked]!), results: told.length, told };
};

let calls = 0;

const itemOf = (call: ToolCall | null): Record<string, unknown> =>
  call === null
    ? {
        type: 'message',
        role: 'assistant',
        id: `msg_${calls}`,
        content: [{ type: 'output_text', text: 'done', annotations: [] }],
      }
    : {
        type: 'function_call',
        id: `fc_${calls}`,
        call_id: `call_${calls}`,
        name: call.tool,
        ...(call.namespace === undefined ? {} : { namespace: call.namespace }),
        arguments: JSON.stringify(call.input),
      };

/** The events of one answer: a word, or a tool call. */
export const answer = (call: ToolCall | null): readonly Record<string, unknown>[] => {
  const id = `resp_${++calls}`;
  const item = itemOf(call);
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
  return [
    { type: 'response.created', response: { id } },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id, usage, output: [item] } },
  ];
};
