import { hostname, totalmem } from 'node:os';
import type { HostFacts, MemoryPressure } from '../../model/observation.ts';
import { visible } from '../../model/text.ts';
import { runCommand } from '../run-command.ts';
import { toolEnvironment } from './ps.ts';

const NAMES = [
  'kern.bootsessionuuid',
  'kern.memorystatus_level',
  'vm.swapusage',
  'kern.memorystatus_vm_pressure_level',
] as const;
const TIMEOUT_MS = 2000;

interface SystemFacts {
  readonly bootId: string | null;
  /** Percent of memory that is available. */
  readonly level: number | null;
  readonly swapUsed: number | null;
  readonly pressure: MemoryPressure | null;
}

/** As xnu's kern_memorystatus_notify.c numbers them for user programs. */
const PRESSURES: Readonly<Record<string, MemoryPressure>> = { 1: 'normal', 2: 'warn', 4: 'critical' };

const UNITS: Readonly<Record<string, number>> = { K: 1024, M: 1024 ** 2, G: 1024 ** 3 };

/** `name: value` a line: a name that this system does not have is left out. */
export const parseSysctl = (text: string): SystemFacts => {
  const values = new Map(
    text.split('\n').flatMap(line => {
      const at = line.indexOf(':');
      return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1).trim()] as const];
    }),
  );
  const boot = values.get(NAMES[0]) ?? '';
  const level = Number(values.get(NAMES[1]) ?? Number.NaN);
  const swap = /used = ([\d.]+)([KMG])/.exec(values.get(NAMES[2]) ?? '');
  return {
    bootId: /^[0-9A-Fa-f-]{36}$/.test(boot) ? boot.toLowerCase() : null,
    level: level >= 0 && level <= 100 ? level : null,
    swapUsed: swap === null ? null : Math.round(Number(swap[1]) * UNITS[swap[2]!]!),
    pressure: PRESSURES[values.get(NAMES[3]) ?? ''] ?? null,
  };
};

export const readHost = async (): Promise<Omit<HostFacts, 'container'>> => {
  const result = await runCommand('sysctl', NAMES, { timeoutMs: TIMEOUT_MS, env: toolEnvironment() });
  const { bootId, level, swapUsed, pressure } = parseSysctl(result.status === 'done' ? result.stdout : '');
  const memTotal = totalmem();
  return {
    name: visible(hostname()),
    platform: 'darwin',
    backend: 'darwin',
    bootId,
    memTotal,
    // os.freemem() counts free pages only, and macOS leaves none free.
    memAvailable: level === null ? null : Math.round((memTotal * level) / 100),
    swapUsed,
    memoryPressure: pressure,
  };
};

let boot: string | null | undefined;

/** At once, for locks and hooks; asked once. */
export const bootIdNow = (): string | null => {
  boot ??= parseSysctl(
    process
      .getBuiltinModule('node:child_process')
      .spawnSync('sysctl', NAMES, { timeout: TIMEOUT_MS, encoding: 'utf8', env: toolEnvironment() }).stdout ??
      '',
  ).bootId;
  return boot;
};
