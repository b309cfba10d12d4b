import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ATTACK = fileURLToPath(new URL('../harness/attack/run.mjs', import.meta.url));
/** What it exits with where no pid namespace can be had. */
const NO_ATTACK_HERE = 77;

/** With guard, for ten minutes, it is `npm run attack`. */
it('what looks leaked lives, what is leaked is ended, and no repository holds a hook up', async ({
  skip,
}) => {
  const child = spawn(process.execPath, [ATTACK, '--quick', '--json'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [told, said] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (told += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [code] = await once(child, 'close');
  if (code === NO_ATTACK_HERE) {
    process.stderr.write(said);
    skip(said.trim());
  }
  const results: { name: string; held: boolean; why: string }[] = JSON.parse(
    told.trim().split('\n').at(-1) ?? '[]',
  );
  expect(results.length).toBeGreaterThan(25);
  expect(results.filter(({ held }) => !held)).toEqual([]);
}, 180_000);
