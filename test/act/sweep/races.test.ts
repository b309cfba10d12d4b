import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Sandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';
import { filesPlan, runFiles } from './files-plan.ts';
import { TASK, writeAgent } from './orchestrator.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

describe('a directory that changes places with a link, again and again', () => {
  const ids = Array.from({ length: 8 }, (_, i) => `tester-22544${i}-dfe9d${i}`);

  it.each(['logs', 'progress', ''])('costs nothing outside the workspace (%s)', async place => {
    const victim = sandbox.path(TASK, place).replace(/\/$/, '');
    // Outside lies a twin of everything: the same names, sizes and times.
    const write = (): void => {
      for (const id of ids) writeAgent(sandbox, id, { finished: true, ageSeconds: 600 });
    };
    write();
    const outside = sandbox.path('outside');
    execFileSync('cp', ['-a', victim, outside]);
    const treasure = readdirSync(outside, { recursive: true }).sort();
    const swapper = sandbox.write(
      'swap.mjs',
      `import { renameSync, symlinkSync, unlinkSync } from 'node:fs';
       const [, , victim, outside] = process.argv;
       for (;;) {
         try {
           renameSync(victim, victim + '.aside');
           symlinkSync(outside, victim);
           unlinkSync(victim);
           renameSync(victim + '.aside', victim);
         } catch {}
       }`,
    );
    const { child } = sandbox.start([process.execPath, swapper, victim, outside]);
    await until('the first swap', () => existsSync(`${victim}.aside`));
    let done = 0;
    const end = Date.now() + 1500;
    for (let round = 0; round < 5 || Date.now() < end || (done === 0 && round < 1000); round++) {
      const records = runFiles(await filesPlan(sandbox));
      done += records.filter(record => record.outcome === 'done').length;
      expect(readdirSync(outside, { recursive: true }).sort()).toEqual(treasure);
      try {
        write();
      } catch {
        // the swapper was faster
      }
    }
    child.kill('SIGKILL');
    // It was a race, not a refusal of everything.
    expect(done).toBeGreaterThan(0);
  });
});
