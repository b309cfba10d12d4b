import { readFileSync } from 'node:fs';
import { isRunning, type RawProcess } from './proc.ts';
import type { Sandbox } from './sandbox.ts';
import { until } from './until.ts';

/** Starts a command whose parent ends at once, so that PID 1 adopts it. `name` keeps several apart. */
export const orphan = async (
  sandbox: Sandbox,
  command: string,
  env: Record<string, string> = {},
  name = 'orphan',
): Promise<RawProcess> => {
  const told = sandbox.path(`${name}.pid`);
  const script = sandbox.write(
    `bin/start-${name}.sh`,
    `#!/bin/sh\nsetsid ${command} </dev/null >/dev/null 2>&1 &\necho $! > ${told}\n`,
    0o755,
  );
  const starter = sandbox.start(['/bin/sh', script], { env });
  const pid = Number(await until('the orphan to say its pid', () => readFileSync(told, 'utf8').trim()));
  await until('the starter to end', () => !isRunning(starter.pid));
  return until('the orphan to be adopted and to be what it will be', () =>
    sandbox
      .running()
      .find(
        p =>
          p.pid === pid &&
          p.ppid !== starter.pid &&
          p.comm !== 'sh' &&
          p.comm !== 'setsid' &&
          p.comm !== 'nohup',
      ),
  );
};
