import { afterAll } from 'vitest';
import { nothingLeft } from './global-setup.ts';

// What a file leaves ends with its namespace, before the run could see it.
afterAll(nothingLeft);
