import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

const SCHEMA = `
PRAGMA journal_mode=WAL;
CREATE TABLE agents(agent_id TEXT PRIMARY KEY, task_id TEXT, type TEXT, model TEXT, tmux_session TEXT, parent TEXT,
  depth INTEGER, phase_index INTEGER, claude_pid INTEGER, cursor_pid INTEGER, tracked_files TEXT, started_at TEXT,
  completed_at TEXT, status TEXT, progress INTEGER, last_update TEXT, prompt_preview TEXT);
`;

export const insertAgent = (id: string, task: string, status: string): string =>
  `INSERT OR REPLACE INTO agents(agent_id, task_id, tmux_session, status, progress, started_at)
   VALUES('${id}', '${task}', 'agent_${id}', '${status}', 50, '2026-01-27T10:00:00.123456');`;

/** The orchestrator's database as it leaves it behind: closed, all of it in the one file. */
export const writeDatabase = (path: string, ...statements: string[]): void => {
  mkdirSync(dirname(path), { recursive: true });
  execFileSync('sqlite3', [path, SCHEMA + statements.join('\n')]);
};

/** The orchestrator at work: a connection that stays open, so that what it wrote is in the log alone. */
export class DatabaseWriter {
  readonly #child: ChildProcess;

  constructor(path: string) {
    mkdirSync(dirname(path), { recursive: true });
    this.#child = spawn('sqlite3', ['-batch', path], { stdio: ['pipe', 'pipe', 'inherit'] });
  }

  /** Returns when it is written. */
  async run(statements: string): Promise<void> {
    const done = new Promise<void>(resolve => {
      let text = '';
      const listen = (chunk: Buffer): void => {
        text += chunk.toString();
        if (!text.includes('written\n')) return;
        this.#child.stdout?.off('data', listen);
        resolve();
      };
      this.#child.stdout?.on('data', listen);
    });
    this.#child.stdin?.write(`${statements}\nSELECT 'written';\n`);
    await done;
  }

  create(): Promise<void> {
    return this.run(SCHEMA);
  }

  async close(): Promise<void> {
    const ended = new Promise(resolve => this.#child.once('close', resolve));
    this.#child.stdin?.end();
    await ended;
  }
}
