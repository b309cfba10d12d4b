import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import type { HostFacts } from '../../model/observation.ts';
import { visible } from '../../model/text.ts';
import { BUFFER, readIntoBuffer, readText } from './read.ts';

/** Kernel constants of this machine, from our own auxiliary vector: Node has no sysconf. */
export interface KernelUnits {
  readonly pageSize: number;
  readonly ticksPerSecond: number;
}

const AT_PAGESZ = 6n;
const AT_CLKTCK = 17n;

export const readKernelUnits = (root: string): KernelUnits => {
  const units = { pageSize: 4096, ticksPerSecond: 100 };
  const length = readIntoBuffer(`${root}/self/auxv`);
  // 64-bit pairs of (type, value); Node supports no 32-bit Linux any more but armv7, where the defaults hold.
  if (typeof length === 'number') {
    for (let at = 0; at + 16 <= length; at += 16) {
      const type = BUFFER.readBigUInt64LE(at);
      const value = Number(BUFFER.readBigUInt64LE(at + 8));
      if (type === AT_PAGESZ && value >= 1024 && value <= 1_048_576) units.pageSize = value;
      if (type === AT_CLKTCK && value >= 1 && value <= 10_000) units.ticksPerSecond = value;
    }
  }
  return units;
};

export const readUptime = (root: string): number | null => {
  const seconds = Number.parseFloat(readText(`${root}/uptime`) ?? '');
  return Number.isFinite(seconds) ? seconds : null;
};

/** PPID 1 means "orphaned" only below these; anything else as PID 1 is a container's own entry point. */
const HOST_INITS = new Set(['systemd', 'init', 'launchd']);

/** `init(Ubuntu)` is how WSL calls its own. hidepid hides the name: then only a booted systemd proves a whole machine. */
const isContainer = (initComm: string | null, systemdBooted: boolean): boolean =>
  initComm === null ? !systemdBooted : !HOST_INITS.has(initComm) && !initComm.startsWith('init(');

const memoryField = (meminfo: string, field: string): number | null => {
  const match = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(meminfo);
  return match?.[1] === undefined ? null : Number(match[1]) * 1024;
};

/** What does not change while we run. */
export const readFixedHostFacts = (
  root: string,
): Omit<HostFacts, 'memTotal' | 'memAvailable' | 'swapUsed'> => {
  const version = readText(`${root}/version`) ?? '';
  return {
    name: visible(hostname()),
    platform: /microsoft/i.test(version) ? 'wsl' : 'linux',
    backend: 'procfs',
    container: isContainer(readText(`${root}/1/comm`)?.trim() ?? null, existsSync('/run/systemd/system')),
    bootId: readText(`${root}/sys/kernel/random/boot_id`)?.trim() ?? null,
  };
};

export const readMemory = (root: string): Pick<HostFacts, 'memTotal' | 'memAvailable' | 'swapUsed'> => {
  const meminfo = readText(`${root}/meminfo`) ?? '';
  const swapTotal = memoryField(meminfo, 'SwapTotal');
  const swapFree = memoryField(meminfo, 'SwapFree');
  return {
    memTotal: memoryField(meminfo, 'MemTotal'),
    memAvailable: memoryField(meminfo, 'MemAvailable'),
    swapUsed: swapTotal === null || swapFree === null ? null : swapTotal - swapFree,
  };
};
