import { plural } from '../../model/format.ts';
import type { JudgedProcess, Snapshot } from '../../model/snapshot.ts';
import type { Tone } from '../look/theme.ts';

/** A heading that top-level processes are gathered under. */
export interface Group {
  readonly key: string;
  readonly title: string;
  readonly note: string;
  readonly tone: Tone;
  /** Order on the screen: what needs a decision comes first. */
  readonly rank: number;
}

const LEAKED: Group = {
  key: 'group:leaked',
  title: 'leaked',
  note: 'proven; c cleans them',
  tone: 'leak',
  rank: 0,
};
const SUSPECT: Group = {
  key: 'group:suspect',
  title: 'suspect',
  note: 'evidence, no proof',
  tone: 'suspect',
  rank: 1,
};
const OUTSIDE: Group = {
  key: 'group:outside',
  title: 'outside tmux',
  note: '',
  tone: 'group',
  rank: 3,
};
const REST: Group = {
  key: 'group:rest',
  title: 'everything else',
  note: 'not related to an agent',
  tone: 'group',
  rank: 4,
};

/** Folded at first: hundreds of rows that nobody asks about. */
export const KERNEL: Group = {
  key: 'group:kernel',
  title: 'kernel threads',
  note: '',
  tone: 'group',
  rank: 5,
};

const DEFAULT_SOCKET = 'default';

/** The last part of a socket path: `/tmp/tmux-1000/work` is `work`. */
const socketName = (socket: string): string => socket.slice(socket.lastIndexOf('/') + 1);

const sessionGroup = (tmux: NonNullable<JudgedProcess['tmux']>, snapshot: Snapshot): Group => {
  const server = snapshot.tmux.find(s => s.socket === tmux.socket);
  const panes = server?.panes.filter(p => p.session === tmux.session) ?? [];
  const attached = panes.some(p => p.attached);
  const socket = socketName(tmux.socket);
  const notes = [
    socket === DEFAULT_SOCKET ? '' : `socket ${socket}`,
    panes.length > 1 ? plural(panes.length, 'pane') : '',
    panes.length > 0 && !attached ? 'detached' : '',
  ];
  return {
    key: `tmux:${tmux.socket}:${tmux.session}`,
    title: `tmux ${tmux.session}`,
    note: notes.filter(Boolean).join(', '),
    tone: 'group',
    rank: 2,
  };
};

export const groupOf = (root: JudgedProcess, snapshot: Snapshot): Group => {
  if (root.facts.kernelThread) return KERNEL;
  if (root.verdict === 'leak') return LEAKED;
  if (root.verdict === 'suspect' && !root.tmux) return SUSPECT;
  if (root.tmux && root.related) return sessionGroup(root.tmux, snapshot);
  return root.related ? OUTSIDE : REST;
};
