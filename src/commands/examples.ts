/** What people type, and what that does; for the help and the manual. */
export const EXAMPLES: readonly (readonly [line: string, does: string])[] = [
  ['reaptop', 'the live screen; c cleans, ? lists the keys'],
  ['reaptop --once', 'what runs and what is leaked, as text'],
  ['reaptop clean', 'show what would be ended; ends nothing'],
  ['reaptop clean --force', 'end proven leaks'],
  ['reaptop clean --zombie-parents', 'show what can be done about zombies'],
  ['tmux split-window -h -l 60 reaptop', 'the live screen in a side pane'],
  ['reaptop --at -2h', 'the live screen as it was two hours ago, if guard ran'],
  [
    "ssh box 'ps -axwwo pid,ppid,pgid,tty,stat,rss,etime,command' | reaptop --from -",
    'judge another machine',
  ],
  ['reaptop sleep', 'show which idle sessions could give their memory back'],
  ['reaptop sleep --idle 2h --force', 'end sessions idle for two hours, and keep the way back'],
  ['reaptop sessions', 'what runs, sleeps or was lost'],
  ['reaptop wake 5d1f', 'type the command of a session into its old pane'],
  ['reaptop wake --all --run', 'wake all sleeping sessions'],
  ['reaptop sweep', 'show the files that finished agents left'],
  ['reaptop guard install', 'clean by itself from now on'],
  ['reaptop guard status', 'what guard did, and whether it runs'],
  ['reaptop plugin install', 'hooks and a skill for Claude Code, as a plugin'],
  ['reaptop line install', 'one line in the status line of Claude Code'],
  ['reaptop hook install', 'the hooks in ~/.claude/settings.json'],
  ['reaptop hook install --codex', 'the hooks for Codex'],
  ['reaptop exclusive -- lake build', 'build unless another build of the project runs'],
  ['reaptop report --since 7d', 'the last week'],
  ['reaptop doctor', 'what works on this machine'],
];

/** Of the program itself: the live screen comes first. */
const MOST = 8;

/** The examples of one command, or of the program, as the help shows them. */
export const examplesOf = (command: string | null): string => {
  const found = EXAMPLES.filter(([line]) => command === null || line.startsWith(`reaptop ${command}`));
  const shown = found.slice(0, MOST);
  return shown.length === 0
    ? ''
    : `\nExamples:\n${shown.map(([line, does]) => `  ${line}\n      ${does}`).join('\n')}\n`;
};
