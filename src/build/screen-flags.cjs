'use strict';
/**
 * V8's flags for what runs until the terminal closes, each with what it is for: the screen's first minute among 1,000
 * processes on Node 20. The launcher loads this before anything of ours is compiled, because V8 rejects a cache that was
 * made under other flags. It rejects Node's own as well, so what the screen needs of Node is loaded first (7 ms).
 */
const { setFlagsFromString } = require('node:v8');

/** The last Node that was seen to have the flags: V8 complains on stderr of one that it does not know. */
const LAST_NODE = 26;

if (Number.parseInt(process.versions.node, 10) <= LAST_NODE) {
  for (const name of 'os timers/promises child_process perf_hooks assert module'.split(' '))
    require(`node:${name}`);
  void [process.stdout, process.stderr];
  // The nursery keeps its first size, because garbage here is young and small: RSS up to 79 MB instead of 104.
  setFlagsFromString('--semi-space-growth-factor=1');
  // A refresh is a short run of many functions, not worth an optimising compiler: 33 ms each instead of 53.
  setFlagsFromString('--no-opt');
  // The heap is small: threads that mark it beside us take 5 to 8 ms of CPU before the first paint, 14 on Node 24.
  setFlagsFromString('--no-concurrent-marking');
}
