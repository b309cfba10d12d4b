import type { Presence } from '../system.ts';
import { BUFFER, readOnceIntoBuffer } from './read.ts';
import { parseStat } from './stat.ts';
import { readStatus } from './status.ts';

/** Who has this pid now, as whoever signals asks right before. */
export const readPresence = (root: string, pid: number, pageSize: number): Presence => {
  const owners = readStatus(root, pid);
  // Last: whoever signals relies on the identity, and on nothing that happened after it was read.
  const length = readOnceIntoBuffer(`${root}/${pid}/stat`);
  if (length === 'gone') return { status: 'gone' };
  if (length === 'denied') return { status: 'unreadable', why: `/proc/${pid}/stat cannot be read` };
  const stat = parseStat(BUFFER, length);
  if (stat === null) return { status: 'unreadable', why: `/proc/${pid}/stat is malformed` };
  const { start, state, ppid, pgid, sid, rssPages } = stat;
  if (owners === 'gone') return { status: 'gone' };
  if (owners === 'denied') return { status: 'unreadable', why: `/proc/${pid}/status cannot be read` };
  return {
    status: 'present',
    identity: { pid, start },
    state,
    ppid,
    pgid,
    sid,
    rss: Math.max(0, rssPages) * pageSize,
    uids: [owners.realUid, owners.effectiveUid],
  };
};
