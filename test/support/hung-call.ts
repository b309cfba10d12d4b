import { NO_PAST, type Past } from '../../src/judge/history.ts';
import { type JudgedSnapshot, judge } from '../../src/judge/judge.ts';
import type { LoggedCall } from '../../src/model/call.ts';
import type { Config } from '../../src/model/config.ts';
import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
import { readingOf } from '../../src/model/heartbeat.ts';
import type { ConfiguredServer, TmuxServer } from '../../src/model/observation.ts';
import { CLOCK, type Row, session, world } from './world.ts';

/** A session whose call has been pending for a while. */
export interface HungCall {
  /** How long ago it began. */
  readonly seconds?: number;
  readonly tool?: string;
  readonly server?: string | null;
  readonly subagent?: boolean;
  readonly agent?: 'claude' | 'codex';
  /** What its own file says that it does. */
  readonly status?: string | null;
  readonly rows?: readonly Row[];
  readonly past?: Partial<Past>;
  readonly config?: Config;
  readonly more?: readonly LoggedCall[];
  readonly tmux?: readonly TmuxServer[];
  readonly servers?: readonly ConfiguredServer[];
}

export const NOW = CLOCK * 1000;
export const AGENT = 1000;
export const SERVER = 1048;

/** An idle server, as every sample has shown it. */
const IDLE: Partial<Past> = { idleSamples: () => 3 };
export const BUSY: Partial<Past> = { idleSamples: () => 0 };

export const LEAN: Row = [SERVER, AGENT, 'lean-lsp-mcp'];

export const logged = (call: Partial<LoggedCall> = {}): LoggedCall => ({
  id: 'toolu_1',
  tool: 'lean_diagnostic_messages',
  server: 'lean-lsp',
  startedAt: NOW - 780_000,
  subagent: false,
  ...call,
});

/** The machine with it, judged. */
export const withHungCall = (call: HungCall = {}): JudgedSnapshot => {
  const { seconds = 780, agent = 'claude', status = 'busy', rows = [LEAN], past = IDLE } = call;
  const pending = logged({
    tool: call.tool ?? 'lean_diagnostic_messages',
    server: call.server === undefined ? 'lean-lsp' : call.server,
    startedAt: NOW - seconds * 1000,
    subagent: call.subagent ?? false,
  });
  const own: Row = [AGENT, 80_001, agent, { born: 10, details: { cwd: '/home/me/proofs' } }];
  const all = rows.some(([pid]) => pid === AGENT) ? rows : [own, ...rows];
  const { observation, tree, lineage } = world(all, {
    sessions:
      agent === 'claude'
        ? [session(AGENT, 'abc', { status, statusUpdatedAt: NOW - 800_000, cwd: '/home/me/proofs' })]
        : [],
    tmux: call.tmux ?? [],
    servers: call.servers ?? [],
    readings: [
      readingOf(
        {
          pid: AGENT,
          sessionId: agent === 'claude' ? 'abc' : null,
          calls: { pending: [pending, ...(call.more ?? [])], model: null, tokens: null },
        },
        {
          path: '/home/me/.claude/projects/x/abc.jsonl',
          root: '/home/me/.claude',
          format: 'transcript',
          source: null,
          mtime: NOW - 780_000,
          size: 1,
          unreadable: null,
        },
      ),
    ],
  });
  const config = call.config ?? DEFAULT_CONFIG;
  return judge({ observation, tree, lineage, config, past: { ...NO_PAST, ...past }, all: true });
};
