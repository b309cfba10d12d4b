/** Runs the scripts `check:…` of package.json side by side, and prints what each said when it has ended. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

const check = name =>
  new Promise(resolve => {
    const child = spawn('npm', ['run', '--silent', name], { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', text => (said += text));
    child.on('close', code => {
      process.stdout.write(code === 0 ? said : `${said}${name} failed.\n`);
      resolve(code === 0);
    });
  });

const passed = await Promise.all(
  Object.keys(scripts)
    .filter(name => name.startsWith('check:'))
    .map(check),
);
process.exitCode = passed.every(Boolean) ? 0 : 1;
