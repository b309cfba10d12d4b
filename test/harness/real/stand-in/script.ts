/** One thing the invented model asks for; then the next, when the result has come. */
export interface ToolCall {
  readonly tool: string;
  /** Codex has the tools of each server in a space of their own. */
  readonly namespace?: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** The model says nothing until the scene lets it. */
export interface Hold {
  readonly hold: Promise<unknown>;
}

/** Several at once, in one answer. */
export interface Together {
  readonly all: readonly ToolCall[];
}

export type Step = ToolCall | Together | Hold;

/** A conversation without what makes each API different: the last request of a person, and how many results followed. */
export interface Conversation {
  readonly request: string;
  readonly results: number;
  /** What the results said, newest last: hooks speak to the model through them. */
  readonly told: readonly string[];
}

/** The name of a script in a prompt: `play:build`. */
const CUE = /\bplay:([a-z0-9-]+)/g;

/** What the invented model does when a prompt names a script; any other request is answered with a word. */
export class Scripts {
  readonly #scripts = new Map<string, readonly Step[]>();
  /** Every conversation that named a script, as it came in. */
  readonly heard: { readonly name: string; readonly conversation: Conversation; readonly at: number }[] = [];

  /** The prompt that plays these steps. */
  write(name: string, steps: readonly Step[]): string {
    this.#scripts.set(name, steps);
    return `play:${name}`;
  }

  /** The next tool calls; none when the model is done. */
  async next(conversation: Conversation): Promise<readonly ToolCall[]> {
    const name = [...conversation.request.matchAll(CUE)].at(-1)?.[1];
    if (name === undefined) return [];
    this.heard.push({ name, conversation, at: performance.now() });
    const steps = this.#scripts.get(name) ?? [];
    let calls = 0;
    for (const step of steps) {
      if ('hold' in step) {
        if (calls === conversation.results) await step.hold;
        continue;
      }
      const at = 'all' in step ? step.all : [step];
      if (calls === conversation.results) return at;
      calls += at.length;
    }
    return [];
  }

  /** Whether the model has been asked again after the last step of this script. */
  finished(name: string): boolean {
    const calls = (this.#scripts.get(name) ?? []).reduce(
      (count, step) => count + ('all' in step ? step.all.length : 'tool' in step ? 1 : 0),
      0,
    );
    return this.heard.some(heard => heard.name === name && heard.conversation.results >= calls);
  }
}
