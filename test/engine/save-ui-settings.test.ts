import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/engine/load-config.ts';
import { saveSettings } from '../../src/engine/save-ui-settings.ts';
import type { UiSettings } from '../../src/model/ui-settings.ts';

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'reaptop-test-'));
  path = join(directory, 'reaptop', 'config.json');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const SETTINGS: UiSettings = { theme: 'light', columns: ['pid', 'mem'], mouse: false, interval: 5 };
const put = (text: string): void => {
  mkdirSync(join(directory, 'reaptop'), { recursive: true });
  writeFileSync(path, text);
};

describe('saving the settings', () => {
  test('makes the file and its directory; what was saved is what is loaded', async () => {
    expect(await saveSettings(path, SETTINGS)).toBe(`Saved to ${path}.`);
    expect(await loadConfig({}, path)).toMatchObject(SETTINGS);
    expect(lstatSync(path).mode & 0o077).toBe(0);
  });

  test.runIf(process.geteuid?.() === 0)('makes nothing in the directory of another user', async () => {
    chownSync(directory, 65534, 65534);
    await expect(saveSettings(path, SETTINGS)).rejects.toThrow("another user's directory");
    expect(readdirSync(directory)).toEqual([]);
  });

  test('keeps everything else in the file, and the file as it was beside it', async () => {
    const before = '{ "protect": ["postgres*"], "theme": "default" }';
    put(before);
    expect(await saveSettings(path, SETTINGS)).toContain(`as it was: ${path}.bak`);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ protect: ['postgres*'], ...SETTINGS });
    expect(readFileSync(`${path}.bak`, 'utf8')).toBe(before);
    await saveSettings(path, { ...SETTINGS, interval: 7 });
    expect(readFileSync(`${path}.bak`, 'utf8')).toBe(before);
    expect(existsSync(`${path}.bak.1`)).toBe(true);
  });

  test('writes nothing when nothing changed', async () => {
    await saveSettings(path, SETTINGS);
    expect(await saveSettings(path, SETTINGS)).toBe(`No changes to save in ${path}.`);
    expect(existsSync(`${path}.bak`)).toBe(false);
  });

  test('writes to what a link points to, and the link stays', async () => {
    const real = join(directory, 'dotfiles.json');
    writeFileSync(real, '{}');
    mkdirSync(join(directory, 'reaptop'));
    symlinkSync(real, path);
    await saveSettings(path, SETTINGS);
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(JSON.parse(readFileSync(real, 'utf8'))).toEqual(SETTINGS);
  });

  test.each(['{ "theme": ', '{ "colour": 1 }', '[]'])(
    'never writes over a file that is not valid: %s',
    async text => {
      put(text);
      await expect(saveSettings(path, SETTINGS)).rejects.toThrow(/^Nothing was saved: .*config\.json/);
      expect(readFileSync(path, 'utf8')).toBe(text);
    },
  );

  test('says why where nothing can be written', async () => {
    writeFileSync(join(directory, 'reaptop'), 'a file in its place');
    await expect(saveSettings(path, SETTINGS)).rejects.toThrow(/^Nothing was saved: .*\.$/);
  });
});
