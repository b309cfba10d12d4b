export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

/** `[HOST:]PORT`; loopback unless a host is named. null when it is no such thing. */
export const parseAddress = (text: string): MetricsAddress | null => {
  const match = /^(?:(\[[0-9a-fA-F:]+\]|[^:[\]\s]+):)?(\d{1,5})$/.exec(text);
  if (match === null || Number(match[2]) > 65_535) return null;
  return { host: match[1]?.replace(/^\[|\]$/g, '') ?? '127.0.0.1', port: Number(match[2]) };
};

/** As `parseAddress` reads it: an address of IPv6 stands in brackets. */
export const addressText = ({ host, port }: MetricsAddress): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;
