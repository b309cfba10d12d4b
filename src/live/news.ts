import { aboutOf, type Finding } from '../model/finding.ts';
import { identityOf, type JudgedProcess, type Snapshot } from '../model/snapshot.ts';
import { calls } from '../words/process.ts';

/** What somebody is told of, once: a finding that became critical, or an agent that began to wait. */
export interface News extends Omit<Finding, 'id'> {
  readonly id: Finding['id'] | 'agent-waits';
}

/** A finding that comes and goes at its threshold is no news until it was away this long. */
const FORGET_MS = 10 * 60 * 1000;

interface Told {
  readonly id: News['id'];
  /** Identities and files: a finding whose processes come and go is the same while it keeps one of them. */
  readonly about: Set<string>;
  lastSeen: number;
}

const waiting = (p: JudgedProcess): News => {
  const project = p.session?.project ? ` in ${p.session.project}` : '';
  const what = p.session?.waitingFor ?? null;
  return {
    id: 'agent-waits',
    severity: 'warn',
    title: `${calls(p)}${project} waits for you`,
    why: what === null ? 'its own session file says so' : `its own session file says: ${what}`,
    processes: [identityOf(p)],
    files: [],
    remedy: 'answer it; o goes to its pane',
    action: null,
  };
};

/** Tells what is new since the look before, each thing once. */
export class NewsDesk {
  #told: Told[] = [];

  look(snapshot: Snapshot): readonly News[] {
    const at = snapshot.takenAt;
    const waits = snapshot.processes.filter(p => p.session?.doing === 'waiting').map(waiting);
    const current: readonly News[] = [...snapshot.findings.filter(f => f.severity === 'critical'), ...waits];
    const fresh = current.filter(news => !this.#knows(news, at));
    const present = new Set(waits.flatMap(aboutOf));
    this.#told = this.#told.filter(({ id, about, lastSeen }) =>
      // Who was answered and waits again asks something new.
      id === 'agent-waits' ? [...about].some(key => present.has(key)) : at - lastSeen < FORGET_MS,
    );
    return fresh;
  }

  #knows(news: News, at: number): boolean {
    const about = aboutOf(news);
    const told = this.#told.find(
      ({ id, about: known }) => id === news.id && about.some(key => known.has(key)),
    );
    for (const key of about) told?.about.add(key);
    if (told) told.lastSeen = at;
    else this.#told.push({ id: news.id, about: new Set(about), lastSeen: at });
    return told !== undefined;
  }
}
