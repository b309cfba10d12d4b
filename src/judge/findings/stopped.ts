import { identityOf, label } from '../../model/snapshot.ts';
import type { Detector } from './detector.ts';

/** `t` is a process under a debugger: a user is at work. */
export const stopped: Detector = ({ processes }) =>
  processes
    .filter(p => p.facts.state === 'T')
    .map(p => ({
      id: 'stopped',
      severity: 'warn',
      title: `${label(p)} is stopped`,
      why: 'stopped (state T): it still uses memory; SIGTERM has no effect until it is resumed',
      processes: [identityOf(p)],
      files: [],
      remedy: 'resume it (SIGCONT), then end it if it is no longer needed',
      action: 'continue',
    }));
