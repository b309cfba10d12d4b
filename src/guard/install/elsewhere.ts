import { quoteArgs } from '../../model/text.ts';

/** Where nobody keeps programs running for a user, the user says so himself. */
export const elsewhereText = (command: readonly string[]): string => {
  const line = quoteArgs(command);
  return `Neither systemd nor launchd runs here. Any one of these keeps the machine clean:

  crontab -e, and add:
    @reboot ${line} >/dev/null 2>&1
  or a pass every five minutes instead of a process that stays:
    */5 * * * * ${line} --once >/dev/null 2>&1
  or a tmux session of its own:
    tmux new-session -d -s reaptop-guard ${quoteArgs([line])}
`;
};
