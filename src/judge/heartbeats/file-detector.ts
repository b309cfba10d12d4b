import type { Finding } from '../../model/finding.ts';
import type { Scene } from '../findings/detector.ts';
import type { JudgedFiles } from './index.ts';

/** A scene together with what the files of the agents say. */
export interface FileScene extends Scene {
  readonly files: JudgedFiles;
}

/** A detector that looks at files and at what they speak of. */
export type FileDetector = (scene: FileScene) => readonly Finding[];
