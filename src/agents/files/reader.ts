import { NO_CONTENT, type ReadingContent } from '../../model/heartbeat.ts';
import { asObject, type JsonObject, parseJson } from '../../model/json-fields.ts';
import { directoryOf, lastPartOf } from '../../model/path.ts';

/** The text of a known file, as much of it as was read. `cut`: there is more than that. */
export interface FileText {
  readonly path: string;
  readonly text: string;
  readonly cut: boolean;
}

export type Understood =
  | { readonly ok: true; readonly content: ReadingContent }
  | { readonly ok: false; readonly why: string };

/** A reader of one format: pure, total, never throws. */
export type Reader = (file: FileText) => Understood;

export const understood = (content: Partial<ReadingContent>): Understood => ({
  ok: true,
  content: { ...NO_CONTENT, ...content },
});

export const notUnderstood = (why: string): Understood => ({ ok: false, why });

/** A reader of files that hold one JSON object. */
export const objectReader =
  (read: (object: JsonObject, file: FileText) => Partial<ReadingContent>): Reader =>
  file => {
    if (file.cut) return notUnderstood('larger than 64 KiB');
    const parsed = parseJson(file.text);
    if (!parsed.ok) return notUnderstood(parsed.why);
    const object = asObject(parsed.value);
    return object === null ? notUnderstood('not a JSON object') : understood(read(object, file));
  };

/** `specs/007_name/.agent-progress.json` speaks of task 7, also when it does not say so itself. */
export const taskOfPath = (path: string): string | null => {
  const directory = directoryOf(path);
  const name = lastPartOf(lastPartOf(directory) === 'progress' ? directoryOf(directory) : directory);
  const number = /^(\d{1,9})_/.exec(name)?.[1];
  return number === undefined ? null : String(Number(number));
};
