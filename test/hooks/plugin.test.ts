import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { understand } from '../../src/hooks/decide/input.ts';
import { answer } from '../../src/hooks/handlers.ts';
import { installHooks } from '../../src/hooks/install.ts';
import { packagedPlugin, plugin } from '../../src/hooks/plugin.ts';
import { forgetSession, pruneSessions, readSession } from '../../src/hooks/session-state.ts';
import { DEFAULT_HOOKS, type HookCaller } from '../../src/model/hook.ts';
import { EVENTS } from '../fixtures/hooks.ts';
import { configure, stateOf } from '../support/hook-session.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
let said: string;
beforeEach(() => {
  sandbox = new Sandbox();
  said = '';
});
afterEach(() => sandbox.close());

const out = { write: (text: string): unknown => (said += text) };
const ground = (dryRun = false) => ({
  env: sandbox.env,
  cwd: sandbox.path('work'),
  script: '/opt/reaptop/dist/cli.js',
  dryRun,
  out,
  err: out,
});
const claude = (...parts: string[]): string => join(sandbox.home, '.claude', ...parts);
const place = (...parts: string[]): string => claude('skills/reaptop', ...parts);
const hooksFile = () =>
  JSON.parse(readFileSync(place('hooks/hooks.json'), 'utf8')) as {
    hooks: Record<string, { matcher?: string; hooks: { command: string; args: string[]; async?: true }[] }[]>;
  };

describe('plugin install', () => {
  it('writes one directory that starts the installed program without a shell; uninstall leaves no byte', async () => {
    mkdirSync(claude());
    await plugin('install', ground());
    expect(readdirSync(claude())).toEqual(['skills']);
    expect(readdirSync(claude('skills'))).toEqual(['reaptop']);
    expect(JSON.parse(readFileSync(place('.claude-plugin/plugin.json'), 'utf8')).name).toBe('reaptop');
    const [start] = hooksFile().hooks.SessionStart!;
    expect(start!.hooks[0]).toMatchObject({
      command: process.execPath,
      args: ['/opt/reaptop/dist/cli.js', 'hook', 'SessionStart', '--plugin'],
    });
    expect(statSync(place('bin/reaptop')).mode & 0o777).toBe(0o755);
    expect(readFileSync(place('skills/processes/SKILL.md'), 'utf8')).toMatch(/^---\nname: processes\n/);
    await plugin('uninstall', ground());
    expect(readdirSync(claude())).toEqual([]);
  });

  it('twice is once, and brings another version or setting up to date', async () => {
    await plugin('install', ground());
    const { ino } = statSync(place());
    await plugin('install', ground());
    expect(statSync(place()).ino).toBe(ino);
    expect(said).toContain('nothing was changed');
    configure(sandbox, { hooks: { broadKills: 'off' } });
    await plugin('status', ground());
    expect(said).toContain('with other settings: reaptop plugin install');
    await plugin('install', ground());
    expect(existsSync(place('hooks/ask-about-kills.sh'))).toBe(true);
    expect(hooksFile().hooks.PreToolUse).toHaveLength(1);
    expect(readdirSync(claude('skills'))).toEqual(['reaptop']);
  });

  it('with --dry-run changes nothing', async () => {
    await plugin('install', ground(true));
    expect(existsSync(claude())).toBe(false);
    await plugin('install', ground());
    await plugin('uninstall', ground(true));
    expect(existsSync(place())).toBe(true);
  });

  it('moves the hooks that settings have: none is there twice', async () => {
    mkdirSync(claude());
    const before = '{ "model": "opus" }\n';
    writeFileSync(claude('settings.json'), before);
    await installHooks(ground(), { scope: 'user', dryRun: false });
    await installHooks(ground(), { scope: 'project', dryRun: false });
    await plugin('install', ground());
    expect(readFileSync(claude('settings.json'), 'utf8')).toBe(before);
    expect(existsSync(sandbox.path('work/.claude'))).toBe(false);
    expect(said).toContain('8 hooks taken out of');
  });

  it.each(['user', 'project'] as const)('hook install refuses beside it (%s)', async scope => {
    await plugin('install', ground());
    await expect(installHooks(ground(), { scope, dryRun: false })).rejects.toThrow(/plugin uninstall/);
    expect(existsSync(claude('settings.json'))).toBe(false);
  });

  test.each<[string, () => unknown]>([
    [
      'a skill of the user with that name',
      () => sandbox.write('home/.claude/skills/reaptop/SKILL.md', 'mine'),
    ],
    [
      'a file of the user among ours',
      async () => {
        await plugin('install', ground());
        writeFileSync(place('notes.txt'), 'mine');
      },
    ],
    [
      'a link to a copy of it',
      async () => {
        await plugin('install', ground());
        renameSync(place(), sandbox.path('elsewhere'));
        symlinkSync(sandbox.path('elsewhere'), place());
      },
    ],
    ['an empty directory', () => mkdirSync(place(), { recursive: true })],
    [
      'a file',
      () => {
        mkdirSync(claude('skills'), { recursive: true });
        writeFileSync(place(), 'mine');
      },
    ],
  ])('%s is left as it is', async (_, make) => {
    await make();
    const before = execFileSync('find', [claude(), '-ls'], { encoding: 'utf8' });
    await expect(plugin('install', ground())).rejects.toThrow(/was not changed/);
    await expect(plugin('uninstall', ground())).rejects.toThrow(/was not changed/);
    expect(execFileSync('find', [claude(), '-ls'], { encoding: 'utf8' })).toBe(before);
  });
});

describe('an event that both settings and the plugin call for', () => {
  const send = async (event: 'SessionStart' | 'PostToolUse', caller: HookCaller) => {
    const json = { ...EVENTS[event], cwd: sandbox.path('work'), source: 'resume' };
    return answer(understand(event, JSON.stringify(json), caller)!, sandbox.env);
  };
  const turns = () => readSession(stateOf(sandbox), EVENTS.PostToolUse.session_id)?.turns;

  it('counts once: the one from settings stands down', async () => {
    await send('SessionStart', 'plugin');
    await send('PostToolUse', 'settings');
    await send('PostToolUse', 'plugin');
    expect(turns()).toEqual({ '': 1 });
  });

  it('is the start of a session, too', async () => {
    await plugin('install', ground());
    await send('SessionStart', 'settings');
    expect(turns()).toBeUndefined();
    sandbox.write('home/.claude/settings.json', '{"enabledPlugins":{"reaptop@skills-dir":false}}');
    await send('SessionStart', 'settings');
    expect(turns()).toEqual({});
  });

  it('without a plugin the one from settings counts', async () => {
    await send('SessionStart', 'settings');
    await send('PostToolUse', 'settings');
    expect(turns()).toEqual({ '': 1 });
  });
});

describe('the filter before every command', () => {
  const filter = (event: string, word = 'kill'): string => {
    const script = sandbox.write(
      'filter.sh',
      packagedPlugin(DEFAULT_HOOKS)['hooks/ask-about-kills.sh']!.text,
    );
    const told = sandbox.path('told');
    const { status, stdout } = spawnSync(
      'sh',
      [script, word, 'sh', '-c', `cat > ${told}; echo '{"asked":1}'`],
      {
        input: event,
        encoding: 'utf8',
      },
    );
    expect(status).toBe(0);
    if (existsSync(told)) expect(readFileSync(told, 'utf8')).toBe(event);
    return stdout;
  };

  test.each(['pkill node', 'tmux kill-server', String.raw`kill \\"$(pgrep 'x')\\" %s\\n`])(
    'hands %s on as it came',
    command => expect(filter(JSON.stringify({ command }))).toBe('{"asked":1}\n'),
  );
  test('lets everything else pass', () => {
    expect(filter('{"command":"ls"}')).toBe('{}\n');
    expect(filter('{"command":"pkill x"}', 'fuser')).toBe('{}\n');
    expect(filter('{"command":"fuser -k 80/tcp"}', 'fuser')).toBe('{"asked":1}\n');
  });
  test('a program that is not there holds nothing up', () => {
    const script = sandbox.write(
      'filter.sh',
      packagedPlugin(DEFAULT_HOOKS)['hooks/ask-about-kills.sh']!.text,
    );
    expect(spawnSync('sh', [script, 'kill', '/nowhere/node'], { input: 'pkill x' }).status).toBe(0);
  });
});

describe('after a tool', () => {
  const ID = EVENTS.PostToolUse.session_id;
  const file = (): string => join(stateOf(sandbox), 'sessions', `${ID}.json`);
  const send = async (event: 'SessionStart' | 'Stop') => {
    const json = { ...EVENTS[event], cwd: sandbox.path('work'), source: 'resume' };
    return answer(understand(event, JSON.stringify(json), 'plugin')!, sandbox.env);
  };
  const turns = () => readSession(stateOf(sandbox), ID)?.turns;
  /** How often Node would have been started. */
  const afterTool = (extra: object = {}): number => {
    const script = sandbox.write('after.sh', packagedPlugin(DEFAULT_HOOKS)['hooks/after-a-tool.sh']!.text);
    const told = sandbox.path('started');
    const { status, stderr } = spawnSync('sh', [script, 'sh', '-c', `cat >> ${told}; echo >> ${told}`], {
      input: JSON.stringify({ ...EVENTS.PostToolUse, ...extra }),
      env: { ...sandbox.env, CLAUDE_CODE_SESSION_ID: ID },
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
    return existsSync(told) ? readFileSync(told, 'utf8').trim().split('\n').length : 0;
  };
  const past = (path: string): void => utimesSync(path, 1, 1);

  it('one hook works at a time; who comes meanwhile is counted by the next', async () => {
    expect(afterTool()).toBe(1); // no session yet: it is begun
    await send('SessionStart');
    expect(afterTool()).toBe(2);
    mkdirSync(`${file()}.busy`);
    past(file());
    expect(afterTool()).toBe(2);
    expect(afterTool()).toBe(2);
    await send('Stop');
    expect(turns()).toEqual({ '': 2 });
    expect(readdirSync(`${file()}.owed`)).toEqual([]);
  });

  it('what names a task, or comes from a subagent, is always read', async () => {
    await send('SessionStart');
    mkdirSync(`${file()}.busy`);
    past(file());
    expect(afterTool({ tool_input: { file_path: 'specs/688_x/plan.md' } })).toBe(1);
    expect(afterTool({ agent_id: 'a1' })).toBe(2);
  });

  it('a lock that a killed one left is taken over once the session’s file is newer', async () => {
    await send('SessionStart');
    mkdirSync(`${file()}.busy`);
    past(`${file()}.busy`);
    expect(afterTool()).toBe(1);
    expect(existsSync(`${file()}.busy`)).toBe(false);
  });

  it('nothing of it stays behind a session that ended', async () => {
    await send('SessionStart');
    mkdirSync(`${file()}.busy`);
    mkdirSync(join(stateOf(sandbox), 'sessions/other.json.busy'));
    forgetSession(stateOf(sandbox), ID);
    pruneSessions(stateOf(sandbox), Date.now());
    expect(readdirSync(join(stateOf(sandbox), 'sessions'))).toEqual([]);
  });
});
