import { freemem, hostname, totalmem } from 'node:os';
import type { HostFacts } from '../../model/observation.ts';
import { visible } from '../../model/text.ts';

/** What node:os knows. It knows nothing of swap, nor of boots. */
export const hostFacts = (container: boolean): HostFacts => ({
  name: visible(hostname()),
  platform: process.platform,
  backend: 'portable',
  container,
  bootId: null,
  memTotal: totalmem(),
  memAvailable: freemem(),
  swapUsed: null,
});
