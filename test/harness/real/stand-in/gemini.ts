import type { Conversation, ToolCall } from './script.ts';

interface Part {
  readonly text?: string;
  readonly functionResponse?: { readonly response?: unknown };
}

interface Content {
  readonly role?: string;
  readonly parts?: readonly Part[];
}

/** The Gemini API's form of a conversation. */
export const conversationOf = ({
  contents = [],
}: {
  readonly contents?: readonly Content[];
}): Conversation => {
  const parts = contents.filter(({ role }) => role === 'user').flatMap(content => content.parts ?? []);
  const asked = parts.findLastIndex(({ text }) => text?.includes('play:') === true);
  const told = parts
    .slice(asked + 1)
    .filter(({ functionResponse }) => functionResponse !== undefined)
    .map(({ functionResponse }) => JSON.stringify(functionResponse?.response));
  return { request: parts[asked]?.text ?? '', results: told.length, told };
};

/** One answer: a word, or a tool call. */
export const answer = (call: ToolCall | null): Record<string, unknown> => ({
  candidates: [
    {
      index: 0,
      finishReason: 'STOP',
      content: {
        role: 'model',
        parts: [call === null ? { text: 'done' } : { functionCall: { name: call.tool, args: call.input } }],
      },
    },
  ],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
});
