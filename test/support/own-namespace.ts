import { ForksPoolWorker, type PoolRunnerInitializer } from 'vitest/node';

/** Starts the process of each test file by `program` in place of Node's own: in a pid namespace of its own. */
export const ownNamespace = (program: string): PoolRunnerInitializer => ({
  name: 'own-namespace',
  createPoolWorker: options =>
    new (class extends ForksPoolWorker {
      override readonly name = 'own-namespace';

      /** `fork`, which it calls at once, starts what is this then. */
      override async start(): Promise<void> {
        const node = process.execPath;
        process.execPath = program;
        const started = super.start();
        process.execPath = node;
        await started;
      }
    })(options),
});
