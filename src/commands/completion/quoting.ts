/** fish knows two escapes between single quotes. */
export const fishQuoted = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
