/** The pages of the manual: `reaptop help NAME`, and `man reaptop-NAME` in this section. */
export const TOPICS: readonly (readonly [name: string, about: string, section: 5 | 7])[] = [
  ['keys', 'keys and mouse of the live screen', 7],
  ['verdicts', 'what is called a leak, what is never ended, clean', 7],
  ['sleep', 'sleep and wake: memory back without losing a session', 7],
  ['guard', 'unattended clean-up, policy, looking back, metrics', 7],
  ['sweep', 'what finished agents leave on disk and in tmux', 7],
  ['plugin', 'hooks and a skill for Claude Code, as a plugin', 7],
  ['hooks', 'what each hook does; Codex; beat, exclusive, prebuild', 7],
  ['config', 'the config file, every key with its default', 5],
  ['json', 'JSON for scripts, exit codes, status lines', 5],
  ['audit', 'the audit log; what is read and written', 5],
  ['macos', 'what works on a Mac, and what is not confirmed yet', 7],
];

/** As the help shows them. */
export const topicsText = (): string =>
  `\nManual (reaptop help TOPIC):\n${TOPICS.map(([name, about]) => `  ${name.padEnd(10)}${about}\n`).join('')}`;
