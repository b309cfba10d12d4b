import { gather } from '../../model/gather.ts';
import type { ReadingFormat } from '../../model/heartbeat.ts';
import { directoryOf } from '../../model/path.ts';
import type { JudgedProcess } from '../../model/snapshot.ts';
import type { JoinedReading } from './join.ts';

/**
 * The joined files by what others ask for. A project may hold thousands of task directories: whoever
 * looks through all files for each of them takes minutes where one pass takes milliseconds.
 */
export interface FileIndex {
  inDirectory(directory: string): readonly JoinedReading[];
  ofFormat(format: ReadingFormat): readonly JoinedReading[];
  /** Files that may speak of this agent. */
  about(agent: JudgedProcess): readonly JoinedReading[];
}

const NONE: readonly JoinedReading[] = [];

export const indexFiles = (joined: readonly JoinedReading[]): FileIndex => {
  const directories = new Map<string, JoinedReading[]>();
  const formats = new Map<ReadingFormat, JoinedReading[]>();
  const agents = new Map<JudgedProcess, JoinedReading[]>();
  for (const file of joined) {
    gather(directories, directoryOf(file.reading.path), file);
    gather(formats, file.reading.format, file);
    for (const agent of file.candidates) gather(agents, agent, file);
  }
  return {
    inDirectory: directory => directories.get(directory) ?? NONE,
    ofFormat: format => formats.get(format) ?? NONE,
    about: agent => agents.get(agent) ?? NONE,
  };
};
