/** The text in a style: SGR parameters such as `1;31`, opened before it and closed after it. The only place that does so. */
export const inStyle = (text: string, parameters: string): string =>
  parameters === '' || text === '' ? text : `\u001b[${parameters}m${text}\u001b[0m`;
