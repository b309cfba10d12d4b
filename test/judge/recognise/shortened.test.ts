import { describe, expect, it } from 'vitest';
import { type Around, type Row, world } from '../../support/world.ts';

const PASTED: Around = { host: { backend: 'recorded' }, bare: true };
const WHOLE = 'node node_modules/.bin/tsx src/mcp/operator-mcp-server.ts';
const SHORTENED = 'node node_modules/.bin/tsx ...';

/** The row of the shortened line beside others, all orphans. */
const beside = (others: readonly string[], line = SHORTENED, around = PASTED) =>
  world([[1000, 1, line], ...others.map((other, at): Row => [2000 + at, 1, other])], around).at(1000);

describe('a pasted line that ends with an ellipsis', () => {
  it.each([SHORTENED, 'node node_modules/.bin/tsx …'])(
    'is read as the whole line that begins the same: %s',
    line => {
      expect(beside([WHOLE], line)).toMatchObject({
        kind: 'wrapper',
        verdict: 'suspect',
        why: [expect.stringContaining('its command line is shortened'), expect.any(String)],
      });
    },
  );

  it('is never leaked, whatever else is known of it', () => {
    const details = { stdin: 'abandoned-pipe' } as const;
    const [whole, shortened] = [WHOLE, SHORTENED].map(
      line =>
        world(
          [
            [1000, 1, line, { details }],
            [2000, 1, WHOLE],
          ],
          PASTED,
        ).at(1000).verdict,
    );
    expect([whole, shortened]).toEqual(['leak', 'suspect']);
  });

  it('stays unknown where lines that begin the same differ', () => {
    expect(beside([WHOLE, 'node node_modules/.bin/tsx src/web/dev.ts'])).toMatchObject({
      verdict: 'unknown',
    });
  });

  it('stays unknown where no whole line begins the same', () => {
    expect(beside([SHORTENED, 'node other/tsx src/mcp/operator-mcp-server.ts'])).toMatchObject({
      verdict: 'unknown',
    });
  });

  it('stays unknown where only an interpreter is left of it', () => {
    expect(beside(['node src/mcp/operator-mcp-server.ts'], 'node ...')).toMatchObject({ verdict: 'unknown' });
  });

  it('means nothing on a live machine, where it is an argument', () => {
    expect(beside([WHOLE], SHORTENED, {})).toMatchObject({ verdict: 'unknown' });
  });

  it('has no session of the line that it is read as', () => {
    const words = 'node --enable-source-maps';
    const id = '9c33ca78-1244-4e57-8cc8-184e144261c7';
    const claude = `${words} /opt/node_modules/@anthropic-ai/claude-code/cli.js --resume ${id}`;
    const { node } = world(
      [
        [1000, 1, `${words} ...`],
        [2000, 1, claude],
      ],
      PASTED,
    );
    expect(node(1000)).toMatchObject({ agent: 'claude', seen: { sessionIds: [] } });
    expect(node(2000)).toMatchObject({ agent: 'claude', seen: { sessionIds: [id] } });
  });

  it('stays what its own words say', () => {
    const words = 'claude --debug';
    expect(beside([`${words} --bg-spare /tmp/spare.sock`], `${words} ...`)).toMatchObject({
      kind: 'agent',
      protection: null,
    });
  });
});
