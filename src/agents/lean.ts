import type { Family } from './family-type.ts';

// elan's toolchains, and the Nix store's; a `lean` or `lake` found there is no namesake.
const TOOLCHAINS = ['/.elan/', '/toolchains/', '/lean4-', '/lean-toolchain'] as const;

/** What the kernel calls lake: by itself, and below the wrappers of Nix. */
export const LAKE_COMMS: ReadonlySet<string> = new Set(['lake', 'lake.orig', '.lake-wrapped']);

/** Lean 4 and what serves it. `lean` of LeanCloud and other tools called lake have other arguments. */
export const LEAN: readonly Family[] = [
  {
    id: 'lean-lsp-mcp',
    kind: 'lean-lsp',
    name: 'lean-lsp-mcp',
    programs: ['lean-lsp-mcp'],
    packages: ['lean-lsp-mcp'],
    modules: ['lean_lsp_mcp'],
  },
  {
    id: 'lake',
    kind: 'lake',
    name: 'lake',
    programs: ['lake'],
    home: TOOLCHAINS,
    nameSuffices: true,
    valueFlags: ['-d', '--dir', '-f', '--file', '--packages', '--log-level', '--fail-level', '-K'],
    only: [
      {
        command: ['build', 'serve', 'setup-file', 'exe', 'exec', 'env', 'lean', 'update', 'clean', 'test'],
      },
      {
        command: ['lint', 'script', 'run', 'check-build', 'check-test', 'query', 'cache', 'pack', 'unpack'],
      },
      { command: ['upload', 'shake', 'print-paths', 'resolve-deps', 'translate-config', 'version-tags'] },
    ],
    forms: [
      { when: { command: ['build'] }, role: 'lake-build', name: 'lake build' },
      { when: { command: ['serve'] }, role: 'lake-serve', name: 'lake serve' },
      { when: { command: ['setup-file'] }, name: 'lake setup-file' },
      { when: { command: ['exe', 'exec'] }, name: 'lake exe' },
      { when: { command: ['env'] }, name: 'lake env' },
      { when: { command: ['clean'] }, name: 'lake clean' },
      { when: { command: ['update'] }, name: 'lake update' },
      { when: { command: ['test'] }, name: 'lake test' },
    ],
  },
  {
    id: 'lean',
    kind: 'lean',
    name: 'lean',
    programs: ['lean'],
    home: TOOLCHAINS,
    nameSuffices: true,
    only: [
      { flag: ['--server', '--worker', '--stdin', '--setup', '--json'] },
      { ending: ['.lean', '.olean', '.ilean'] },
    ],
    forms: [
      { when: { flag: ['--worker'] }, role: 'lean-worker', name: 'lean --worker' },
      { when: { flag: ['--server'] }, role: 'lean-server', name: 'lean --server' },
    ],
  },
  {
    // Both talk over stdio to what started them, and outlive the `lake env` that did.
    id: 'lean-repl',
    kind: 'lean',
    name: 'lean repl',
    role: 'lean-server',
    paths: [{ under: '.lake/build/bin', direct: true, file: ['repl'] }],
  },
  {
    id: 'loogle',
    kind: 'lean',
    name: 'loogle',
    role: 'lean-server',
    programs: ['loogle'],
    only: [{ flag: ['--interactive'] }],
  },
];
