import type { Conversation, ToolCall } from './script.ts';

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly content?: string | readonly Block[];
}

interface Message {
  readonly role: string;
  readonly content: string | readonly Block[];
}

const blocksOf = ({ content }: Message): readonly Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

const textOf = (block: Block): string =>
  typeof block.content === 'string'
    ? block.content
    : (block.content ?? []).map(inner => inner.text ?? '').join('\n');

/** The Messages API's form of a conversation: what a person asked last, and the results since. */
export const conversationOf = (body: { readonly messages?: readonly Message[] }): Conversation => {
  let request = '';
  let results = 0;
  let told: string[] = [];
  for (const message of body.messages ?? []) {
    if (message.role !== 'user') continue;
    for (const block of blocksOf(message)) {
      if (block.type === 'tool_result') {
        results++;
        told.push(textOf(block));
      } else if (block.text?.includes('play:')) {
        request = block.text;
        results = 0;
        told = [];
      } else if (block.text !== undefined) told.push(block.text);
    }
  }
  return { request, results, told };
};

let calls = 0;

/** The events of one answer: a word, or a tool call. */
export const answer = (model: string, call: ToolCall | null): readonly Record<string, unknown>[] => {
  const id = `toolu_${String(++calls).padStart(24, '0')}`;
  const usage = {
    input_tokens: 10,
    output_tokens: 5,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  };
  const block =
    call === null
      ? {
          start: { type: 'text', text: '' },
          delta: { type: 'text_delta', text: 'done' },
          reason: 'end_turn',
        }
      : {
          start: { type: 'tool_use', id, name: call.tool, input: {} },
          delta: { type: 'input_json_delta', partial_json: JSON.stringify(call.input) },
          reason: 'tool_use',
        };
  return [
    {
      type: 'message_start',
      message: {
        id: `msg_${id}`,
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage,
      },
    },
    { type: 'content_block_start', index: 0, content_block: block.start },
    { type: 'content_block_delta', index: 0, delta: block.delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: block.reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
};

/** The same answer for a client that does not stream. */
export const wholeAnswer = (model: string, call: ToolCall | null): Record<string, unknown> => ({
  id: 'msg_whole',
  type: 'message',
  role: 'assistant',
  model,
  content:
    call === null
      ? [{ type: 'text', text: 'done' }]
      : [{ type: 'tool_use', id: `toolu_whole_${++calls}`, name: call.tool, input: call.input }],
  stop_reason: call === null ? 'end_turn' : 'tool_use',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5 },
});
