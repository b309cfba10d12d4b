import { join } from 'node:path';

export const UNIT = 'reaptop-guard.service';

/** A word as systemd reads it: quoted, and with `%` and `$` that mean themselves. */
const word = (text: string): string => {
  const plain = text.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w@%+=:,./$-]+$/.test(plain)
    ? plain
    : `"${plain.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
};

/** A user unit: no root, started at login, kept running. */
export const unitText = (command: readonly string[]): string => `[Unit]
Description=reaptop guard: clears what AI coding agents leave running
Documentation=man:reaptop(1)

[Service]
ExecStart=${command.map(word).join(' ')}
Restart=on-failure
RestartSec=10
# TERM goes to guard alone: what it started is none of systemd's.
KillMode=process
TimeoutStopSec=60
Nice=5

[Install]
WantedBy=default.target
`;

export const unitPath = (configHome: string): string => join(configHome, 'systemd', 'user', UNIT);
