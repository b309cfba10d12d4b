/** Names told of several; the rest is a number. */
const NAMED = 3;

/** `lean, lake serve, chrome and 4 more`. */
export const someOf = (names: readonly string[], named = NAMED): string => {
  const more = names.length - named;
  return `${names.slice(0, named).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};
