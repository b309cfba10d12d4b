export type Background = 'light' | 'dark';

/**
 * Asks a terminal for its background colour; one that does not know the question says nothing. Ended with Esc and a
 * backslash, as the standard has it: one that does not know OSC at all would ring at the BEL of xterm.
 */
export const BACKGROUND_QUESTION = '\u001b]11;?\u001b\\';

/** `15;0`: foreground and background, as rxvt, Konsole and others set it; of 16 colours 7 and from 9 on are light. */
export const backgroundOfEnvironment = (env: NodeJS.ProcessEnv): Background | null => {
  const told = /(?:^|;)(\d{1,2})$/.exec(env.COLORFGBG ?? '');
  if (told === null || !env.COLORFGBG?.includes(';')) return null;
  const colour = Number(told[1]);
  if (colour > 15) return null;
  return colour === 7 || colour > 8 ? 'light' : 'dark';
};

/** `11;rgb:ffff/ffff/ffff`, with one to four digits a colour. */
const REPLY = /^11;rgba?:([0-9a-f]{1,4})\/([0-9a-f]{1,4})\/([0-9a-f]{1,4})/i;

/** Parts of a colour that the eye takes for its brightness (Rec. 709). */
const WEIGHTS = [0.2126, 0.7152, 0.0722] as const;

export const backgroundOfReply = (text: string): Background | null => {
  const found = REPLY.exec(text);
  if (!found) return null;
  const bright = WEIGHTS.reduce((sum, weight, i) => {
    const digits = found[i + 1]!;
    return sum + (weight * Number.parseInt(digits, 16)) / (16 ** digits.length - 1);
  }, 0);
  return bright > 0.5 ? 'light' : 'dark';
};

/** The console of the kernel prints what it does not know. */
export const canAnswer = (env: NodeJS.ProcessEnv): boolean =>
  !['linux', 'dumb', ''].includes(env.TERM ?? 'xterm');
