import { shellLine, singleQuoted } from '../../model/shell.ts';

/** Where nobody keeps programs running for a user, the user says so himself. */
export const elsewhereText = (command: readonly string[]): string => {
  const line = shellLine(command);
  // To cron a bare percent sign is the end of the line, between quotes too.
  const cronLine = line.replaceAll('%', '\\%');
  return `Neither systemd nor launchd runs here. Any one of these keeps the machine clean:

  crontab -e, and add:
    @reboot ${cronLine} >/dev/null 2>&1
  or a pass every five minutes instead of a process that stays:
    */5 * * * * ${cronLine} --once >/dev/null 2>&1
  or a tmux session of its own:
    tmux new-session -d -s reaptop-guard ${singleQuoted(line)}
`;
};
