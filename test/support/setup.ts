import { beforeEach } from 'vitest';
import { underWay } from './lacking.ts';

// Before any test file is imported: Ink looks at CI when it is loaded, and then draws nothing. The workers share their
// modules, so one file that loads Ink decides for all.
for (const name of Object.keys(process.env))
  if (/^(CI|CONTINUOUS_INTEGRATION|AI_AGENT|NODE_EXTRA_CA_CERTS|(CI_|CLAUDE|TMUX).*)$/.test(name))
    delete process.env[name];
// Log lines show local time.
process.env.TZ = 'UTC';

beforeEach(test => underWay(test));
