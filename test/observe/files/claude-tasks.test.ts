import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { adoptedOutputs } from '../../../src/observe/files/claude-sessions.ts';
import { Sandbox } from '../../support/sandbox.ts';

const ID = '9c33ca78-1244-4e57-8cc8-184e144261c7';

describe('the shells that a background session took over', () => {
  let sandbox: Sandbox;
  beforeEach(() => {
    sandbox = new Sandbox();
  });
  afterEach(() => sandbox.close());
  const tasks = (): string => {
    const directory = sandbox.path('tmp', `claude-${process.getuid!()}`, '-home-me-project', ID, 'tasks');
    mkdirSync(directory, { recursive: true });
    return directory;
  };
  const read = () => adoptedOutputs('/home/me/project', ID, sandbox.path('tmp'));

  it('are known by links to where they write', () => {
    const target = '/tmp/claude-1000/-home-me-project/another/tasks/b02swueby.output';
    symlinkSync(target, join(tasks(), 'b02swueby.output'));
    writeFileSync(join(tasks(), 'b64p61l1c.output'), ''); // a shell of its own
    symlinkSync('/etc/passwd', join(tasks(), 'elsewhere.output'));
    expect(read()).toEqual([target]);
  });

  it('are none where there is no such directory, or no way to name it', () => {
    expect(read()).toEqual([]);
    expect(adoptedOutputs(null, ID)).toEqual([]);
    expect(adoptedOutputs('/home/me/project', '../../etc')).toEqual([]);
  });
});
