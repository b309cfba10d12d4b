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

const USAGE = {
  input_tokens: 10,
  output_tokens: 5,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};

const nextId = (): string => `toolu_${String(++calls).padStart(24, '0')}`;

const blocksFor = (asked: readonly ToolCall[]) =>
  asked.length === 0
    ? [{ start: { type: 'text', text: '' }, delta: { type: 'text_delta', text: 'done' } }]
    : asked.map(call => ({
        start: { type: 'tool_use', id: nextId(), name: call.tool, input: {} },
        delta: { type: 'input_json_delta', partial_json: JSON.stringify(call.input) },
      }));

/** The events of one answer: a word, or tool calls. */
export const answer = (model: string, asked: readonly ToolCall[]): readonly Record<string, unknown>[] => [
  {
    type: 'message_start',
    message: {
      id: `msg_${nextId()}`,
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: USAGE,
    },
  },
  ...blocksFor(asked).flatMap(({ start, delta }, index) => [
    { type: 'content_block_start', index, content_block: start },
    { type: 'content_block_delta', index, delta },
    { type: 'content_block_stop', index },
  ]),
  {
    type: 'message_delta',
    delta: { stop_reason: asked.length === 0 ? 'end_turn' : 'tool_use', stop_sequence: null },
    usage: USAGE,
  },
  { type: 'message_stop' },
];

/** The same answer for a client that does not stream. */
export const wholeAnswer = (model: string, asked: readonly ToolCall[]): Record<string, unknown> => ({
  id: 'msg_whole',
  type: 'message',
  role: 'assistant',
  model,
  content:
    asked.length === 0
      ? [{ type: 'text', text: 'done' }]
      : asked.map(call => ({ type: 'tool_use', id: nextId(), name: call.tool, input: call.input })),
  stop_reason: asked.length === 0 ? 'end_turn' : 'tool_use',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5 },
});
