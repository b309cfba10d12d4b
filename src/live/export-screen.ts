import { exportFile } from '../act/export-file.ts';
import { visible } from '../model/text.ts';
import { errorSentence } from '../observe/state/own-file.ts';

/** Into the directory we were started in; resolves to the path, or says why there is none. */
export const exportScreen = async (extension: string, text: string): Promise<string> => {
  try {
    return visible(exportFile(process.cwd(), extension, text));
  } catch (error) {
    throw new Error(`Nothing was written: ${errorSentence(error)}.`);
  }
};
