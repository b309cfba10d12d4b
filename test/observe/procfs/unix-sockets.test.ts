import { describe, expect, it } from 'vitest';
import { parseUnixSockets, readUnixSockets } from '../../../src/observe/procfs/sockets.ts';

describe('the list of unix sockets', () => {
  it('tells names, listeners and the other end of each', () => {
    const table = parseUnixSockets(
      [
        'u_str ESTAB  0      0      * 1063  * 1064 ',
        'u_str ESTAB  0      0      * 1065  * 0    ',
        'u_str LISTEN 0      5      /tmp/a b/c 12 * 0   ',
        'u_str ESTAB  0      0      /tmp/a b/c 13 * 14   ',
        'u_dgr UNCONN 0      0      @x 15 * 0   ',
        '',
      ].join('\n'),
    )!;
    expect(table.get('1063')).toEqual({ path: null, listens: false, peer: '1064', connected: true });
    expect(table.get('1065')).toMatchObject({ peer: '0', connected: true });
    expect(table.get('12')).toEqual({ path: '/tmp/a b/c', listens: true, peer: '0', connected: false });
    expect(table.get('13')).toMatchObject({ path: '/tmp/a b/c', peer: '14' });
    expect(table.get('15')).toMatchObject({ path: '@x', connected: false });
  });

  it('believes neither of two rows of one inode: a name may forge the second', () => {
    const forged = 'u_str ESTAB 0 0 * 99 * 98\nu_str ESTAB 0 0 * 99 * 0\n';
    expect(parseUnixSockets(forged)?.get('99')).toBeNull();
  });

  it('says nothing at all when a line is no row: a name holds a newline', () => {
    expect(parseUnixSockets('u_str LISTEN 0 5 /tmp/x\nu_str ESTAB 0 0 * 99 * 0 23 * 0\n')).toBeNull();
  });

  it.each([
    ['missing', { status: 'missing' }],
    ['late', { status: 'timeout' }],
    ['failing', { status: 'done', code: 1, stdout: '', stderr: '' }],
    ['endless', { status: 'done', code: 0, stdout: 'x'.repeat(4 * 1024 * 1024), stderr: '' }],
  ] as const)('is unknown when ss is %s', async (_, answer) => {
    expect(await readUnixSockets(async () => answer)).toBeNull();
  });
});
