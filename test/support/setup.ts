import { beforeEach } from 'vitest';
import { underWay } from './lacking.ts';

beforeEach(test => underWay(test));
