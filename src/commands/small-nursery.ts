import { setFlagsFromString } from 'node:v8';

/**
 * Keeps the nursery at its first size: garbage here is young and small, and a large nursery only keeps it longer.
 * Measured at 5,000 processes: up to 103 MB without, 76 with. (`--max-semi-space-size` does nothing once V8 runs.)
 */
export const keepNurserySmall = (): void => setFlagsFromString('--semi-space-growth-factor=1');
