import type { Reporter, TestModule, Vitest } from 'vitest/node';

/** Says at the end which tests were left out, and why: nothing is skipped without a word. */
export default class LeftOut implements Reporter {
  #asked = true;

  onInit({ config }: Vitest): void {
    // With -t all the others are left out on purpose.
    this.#asked = config.testNamePattern === undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (!this.#asked) return;
    for (const module of modules)
      for (const test of module.children.allTests('skipped')) {
        const result = test.result();
        const why = result.state === 'skipped' && result.note ? `: ${result.note}` : '';
        process.stdout.write(`Left out: ${module.relativeModuleId} > ${test.fullName}${why}\n`);
      }
  }
}
