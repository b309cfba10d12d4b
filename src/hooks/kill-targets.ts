import { NO_FILES } from '../engine/agent-files.ts';
import { engineOf } from '../engine/engine.ts';
import { type Mine, mineOf } from '../judge/mine.ts';
import { forestOf, selfAndAncestors } from '../model/forest.ts';
import { keyOf } from '../model/identity.ts';
import { isZombie } from '../model/process.ts';
import { identityOf, type JudgedProcess, label, type Snapshot, sessionName } from '../model/snapshot.ts';
import { plural } from '../model/units.ts';
import type { System } from '../observe/system.ts';
import type { HookContext } from './context.ts';
import { quoted } from './decide/answers.ts';
import type { BroadKill, KillTarget } from './decide/kill-command.ts';
import { preparedFor } from './session-start.ts';

/** What the kernel lets this user signal, PID 1 excepted. */
const canBeHit = ({ facts }: JudgedProcess): boolean => {
  const uid = process.getuid?.();
  return facts.pid > 1 && !facts.kernelThread && !isZombie(facts) && (uid === 0 || facts.uid === uid);
};

/** Listeners on these ports. Only those are asked about their sockets that have not been read. */
const listenersOn = async (
  ports: readonly number[],
  processes: readonly JudgedProcess[],
  system: System,
): Promise<readonly JudgedProcess[]> => {
  const requests = processes.map(p => ({ ...identityOf(p), descriptors: false, sockets: true }));
  const details = await system.details(requests);
  return processes.filter(p =>
    details.get(keyOf(p.facts))?.listening?.ports.some(port => ports.includes(port)),
  );
};

/** In panes of this server, and the server itself. */
const inServer = (
  socket: string | null,
  { processes, tmux }: Snapshot,
  env: NodeJS.ProcessEnv,
): readonly JudgedProcess[] => {
  const wanted = socket ?? env.TMUX?.split(',')[0] ?? '/default';
  const isIt = (path: string): boolean => path === wanted || path.endsWith(`/${wanted.replace(/^\//, '')}`);
  const servers = new Set(tmux.filter(server => isIt(server.socket)).map(({ pid }) => pid));
  return processes.filter(p => servers.has(p.facts.pid) || (p.tmux !== null && isIt(p.tmux.socket)));
};

const hitBy = async (
  target: Exclude<KillTarget, { by: 'containers' }>,
  snapshot: Snapshot,
  system: System,
  env: NodeJS.ProcessEnv,
): Promise<readonly JudgedProcess[]> => {
  const all = snapshot.processes.filter(canBeHit);
  if (target.by === 'everything') return all;
  if (target.by === 'tmux') return inServer(target.socket, snapshot, env).filter(canBeHit);
  if (target.by === 'port') return listenersOn(target.ports, all, system);
  return all.filter(({ facts }) => target.fits(facts.comm, (facts.argv ?? []).join(' ').slice(0, 4096)));
};

const MOST_NAMED = 5;

/** `node (12) of claude (7) "proofs"`. */
const nameOf = (p: JudgedProcess, processes: readonly JudgedProcess[]): string => {
  const owner = p.isSession
    ? p
    : processes.find(one => one.facts.pid === p.owner?.pid && one.facts.start === p.owner.start);
  const session = owner?.session == null ? '' : sessionName(owner.session);
  const whose = owner === undefined ? 'of no agent session' : owner === p ? '' : `of ${label(owner)}`;
  return [label(p), whose, session === '' ? '' : quoted(session)].filter(Boolean).join(' ');
};

const sentence = (hit: readonly JudgedProcess[], mine: Mine | null, snapshot: Snapshot): string | null => {
  const own = new Set(mine?.processes ?? []);
  const others = hit.filter(p => !own.has(p));
  if (others.length === 0) return null;
  const ownPids = hit.filter(p => own.has(p)).map(({ facts }) => facts.pid);
  // Agents first: ending one costs the most.
  const named = [...others.filter(p => p.isSession), ...others.filter(p => !p.isSession)]
    .slice(0, MOST_NAMED)
    .map(p => (p === mine?.agent ? `this session itself (${p.facts.pid})` : nameOf(p, snapshot.processes)));
  const more = others.length - named.length;
  return [
    `it would end ${plural(others.length, 'process', 'processes')} that this session did not start: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`,
    ownPids.length === 0
      ? 'None that it would end is of this session. List yours: reaptop --once --mine.'
      : `Of this session: ${ownPids.slice(0, 20).join(' ')}. End those by pid: kill ${ownPids.slice(0, 20).join(' ')}`,
  ].join(' ');
};

const CONTAINERS =
  'it would end every container that is listed, including those of other sessions. Name the containers that this session started.';

/** Who is hit by these besides the session's own processes, as a sentence; null: nobody. */
export const whoIsHit = async (context: HookContext, kills: readonly BroadKill[]): Promise<string | null> => {
  if (kills.some(({ target }) => target.by === 'containers')) return CONTAINERS;
  const ready = await preparedFor(context);
  const snapshot = await engineOf(ready, NO_FILES).sample({ all: true });
  const forest = forestOf(snapshot.processes, p => p.facts);
  const mine = mineOf(snapshot, { sessionId: context.input.sessionId });
  // The hook and what carries it end by themselves.
  const line = selfAndAncestors(forest.at(snapshot.self?.pid ?? null), p =>
    p === mine?.agent ? null : forest.parentOf(p),
  );
  const found = await Promise.all(
    kills.map(({ target }) =>
      target.by === 'containers' ? [] : hitBy(target, snapshot, ready.system, context.env),
    ),
  );
  const hit = [...new Set(found.flat())].filter(p => p === mine?.agent || !line.has(p));
  return sentence(hit, mine, snapshot);
};
