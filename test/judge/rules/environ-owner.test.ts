import { describe, expect, it } from 'vitest';
import { environOwners } from '../../../src/judge/rules/environment-owner.ts';
import { verdictContext } from '../../../src/judge/rules/verdict-context.ts';
import { DEFAULT_CONFIG } from '../../../src/model/config-defaults.ts';
import { type Around, type Extra, type Row, session, tmux, UNREADABLE, world } from '../../support/world.ts';

const GONE = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: '9c33ca78-1244', CLAUDE_PID: '77' };

/** What its environment alone says of 5000, without what its parents and other evidence say. */
const told = (rows: readonly Row[], around: Around = {}) => {
  const { tree, observation, node } = world(rows, around);
  return environOwners(node(5000), verdictContext({ tree, observation, config: DEFAULT_CONFIG }));
};

describe('marks of a session that has ended', () => {
  /** The fate of their owner, when what is above carries them, too. */
  const below = (command: string, extra: Extra, pid = 4000): string | undefined => {
    const above: Row = [pid, pid === 1 ? 0 : 1, command, extra];
    const rows: Row[] = [above, [4500, pid, '/bin/bash -c java', { env: {} }]];
    return told([...rows, [5000, 4500, 'java', { env: GONE }]], { tmux: [tmux(4000, [])] })[0]?.fate;
  };
  const ADOPTERS: readonly [string, string, Extra, number?][] = [
    ['a tmux server', 'tmux', { comm: 'tmux: server' }],
    ['a user manager', '/usr/lib/systemd/systemd --user', {}],
    ['PID 1', 'python app.py', {}, 1],
  ];

  it.each(ADOPTERS)(
    'prove nothing below %s that hands them to all that it starts',
    (_, command, extra, pid) => {
      expect(below(command, { ...extra, env: GONE }, pid)).toBe('unproven');
    },
  );

  it.each(ADOPTERS)('prove its end below %s that has them not, or others', (_, command, extra, pid) => {
    expect(below(command, { ...extra, env: {} }, pid)).toBe('dead');
    // Of our own user's that cannot be read nobody knows.
    expect(below(command, { ...extra, env: null }, pid)).toBe(pid === 1 ? 'dead' : 'unproven');
    expect(below(command, { ...extra, env: { ...GONE, CLAUDE_PID: '78' } }, pid)).toBe('dead');
  });

  it.each(['python work.py', '/bin/bash -c java', 'node /opt/mcp-server-github'])(
    'prove its end below %s, which the same session started',
    command => {
      expect(below(command, { env: GONE })).toBe('dead');
    },
  );
});

it('an owner that lists itself under the named session, but can no longer be read, may run', () => {
  const hidden: Row = [900, 1, 'claude', UNREADABLE];
  const evidence = told([hidden, [5000, 1, 'java', { env: { ...GONE, CLAUDE_PID: '900' } }]], {
    sessions: [session(900, '9c33ca78-1244')],
  });
  expect(evidence).toMatchObject([{ fate: 'alive' }]);
  const { CLAUDE_PID: _, ...byId } = GONE;
  const named = told([hidden, [5000, 1, 'java', { env: byId }]], {
    sessions: [session(900, '9c33ca78-1244')],
  });
  expect(named).toMatchObject([{ fate: 'uncertain' }]);
});

describe('an environment says nothing of an owner', () => {
  it.each<[string, Row]>([
    ['when it cannot be read', [5000, 1, 'java', { env: null }]],
    ['without the marks of a session', [5000, 1, 'java', { env: {} }]],
    ['of an agent that it names itself, by its pid', [5000, 1, 'claude', { env: { CLAUDE_PID: '5000' } }]],
  ])('%s', (_, row) => {
    expect(told([row])).toEqual([]);
  });

  it.each<[string, Row]>([
    ['an editor', [4000, 1, '/usr/bin/vim', { tty: 'pts/2' }]],
    ['a login', [4000, 80_000, '-bash', { tty: 'pts/9' }]],
    ['a pane', [4000, 3000, '-zsh', { tty: 'pts/0' }]],
  ])('of who sits in %s, and has it from there', (_, above) => {
    const server: Row = [3000, 1, 'tmux', { comm: 'tmux: server' }];
    const rows: Row[] = [server, above, [5000, 4000, 'java', { env: GONE }]];
    const panes = above[1] === 3000 ? [4000] : [];
    expect(told(rows, { tmux: [tmux(3000, panes)] })).toEqual([]);
  });

  it('when an agent names itself by its session', () => {
    const own = { sessions: [session(5000, '9c33ca78-1244')] };
    expect(told([[5000, 1, 'claude', { env: GONE }]], own)).toEqual([]);
    expect(told([[5000, 1, 'claude', { env: GONE }]])).toMatchObject([{ fate: 'dead' }]);
  });
});

it.each([
  [GONE, 'started by Claude session 9c33ca78, which has ended'],
  [{ CLAUDE_PID: '77' }, 'started by claude 77, which has ended'],
  [
    { CLAUDECODE: '1' },
    'started by a session of Claude, which looks ended, but Claude keeps no list of running sessions',
  ],
])('%o: %s', (env, why) => {
  expect(told([[5000, 1, 'java', { env }]])).toMatchObject([{ why }]);
});

describe('a running session that does not look like one', () => {
  const id = GONE.CLAUDE_CODE_SESSION_ID;
  const named: Row = [5000, 1, 'java', { env: GONE }];
  const served: Row = [5000, 1, 'java', { env: { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: id } }];

  it.each<[string, readonly Row[], Around]>([
    [
      'is named by its session, and registered',
      [[70, 80_001, '/opt/my-cl'], served],
      { sessions: [session(70, id)] },
    ],
    [
      'is named by its pid, and registered',
      [[77, 80_001, '/opt/my-cl'], named],
      { sessions: [session(77, 'other')] },
    ],
    ['has started another with its own words', [[77, 80_001, 'claude'], [78, 77, 'claude'], named], {}],
    ['is a program that nobody knows', [[77, 80_001, '/opt/opencode-cli'], named], {}],
    ['is of another family', [[77, 80_001, 'codex'], [78, 77, 'codex'], named], {}],
    [
      'was registered as another before',
      [[77, 80_001, 'vim'], named],
      { sessions: [session(77, id, { procStart: '1' })] },
    ],
  ])('lives when it %s', (_, rows, around) => {
    expect(told(rows, around)).toMatchObject([{ fate: 'alive' }]);
  });

  it.each<[string, readonly Row[], Around]>([
    ['started later', [[77, 80_001, '/opt/my-cl', { born: 6000 }], named], { sessions: [session(77, id)] }],
    ['is registered as another one', [[70, 80_001, '/opt/my-cl'], served], { sessions: [session(70, 'x')] }],
    ['has ended', [[77, 80_001, '[my-cl]', { state: 'Z' }], named], { sessions: [session(77, id)] }],
  ])('owns nothing when it %s', (_, rows, around) => {
    expect(told(rows, around)).toMatchObject([{ fate: 'dead' }]);
  });

  it('does not own itself', () => {
    const itself: Row = [5000, 1, '/opt/my-cl', { env: { ...GONE, CLAUDE_PID: '5000' } }];
    expect(told([itself], { sessions: [session(5000, id)] })).toMatchObject([{ fate: 'dead' }]);
  });
});
