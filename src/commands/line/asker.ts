import type { LineStyle } from '../../judge/status-line.ts';
import { readEvent } from '../hook/stdin.ts';

/** Which session asks: Claude tells its status line on standard input. Null: nobody said. */
export const askingSession = async (style: LineStyle): Promise<string | null> => {
  if (style !== 'claude' || process.stdin.isTTY === true) return null;
  const told = await readEvent();
  if (!told.ok) return null;
  try {
    const { session_id: id } = JSON.parse(told.text) as { session_id?: unknown };
    return typeof id === 'string' ? id : null;
  } catch {
    return null; // no JSON: the line is for anybody then
  }
};
