import { readdirSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { writeAudit } from '../../../src/act/record/audit.ts';
import { Sandbox } from '../../support/sandbox.ts';

/** The disk is full: whatever is opened for appending has no room. */
vi.mock('../../../src/observe/state/append.ts', async importOriginal => {
  const { openSync } = await import('node:fs');
  return { ...(await importOriginal<object>()), openForAppend: () => openSync('/dev/full', 'r+') };
});

test('a line that finds no room is a warning, and leaves no file open', () => {
  const sandbox = new Sandbox();
  const line = { schema: 1, event: 'intent', id: 'a', by: 'clean', why: 'x' } as const;
  const open = readdirSync('/proc/self/fd').length;
  expect(
    writeAudit(
      { ...line, writer: null, boot: null, plan: {}, sessions: [] },
      { directory: sandbox.path('state') },
    ),
  ).toMatch(/could not be written: the disk is full$/);
  expect(readdirSync('/proc/self/fd')).toHaveLength(open);
  sandbox.close();
});
