import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface FakeProcess {
  readonly pid: number;
  readonly ppid?: number;
  readonly comm?: string | Buffer;
  readonly state?: string;
  readonly start?: number;
  readonly ticks?: number;
  readonly rssPages?: number;
  readonly tty?: number;
  readonly flags?: number;
  readonly stack?: number;
  readonly threads?: number;
  readonly cmdline?: string | Buffer;
}

/** One line as the kernel writes it: 52 fields. */
export const statLine = ({
  pid,
  ppid = 1,
  comm = 'sleep',
  state = 'S',
  start = 1000,
  ticks = 0,
  rssPages = 100,
  tty = 0,
  flags = 0x400000,
  stack = 140_000,
  threads = 1,
}: FakeProcess): Buffer => {
  const after = [
    state,
    ppid,
    pid,
    pid,
    tty,
    -1,
    flags,
    0,
    0,
    0,
    0,
    ticks,
    0,
    0,
    0,
    20,
    0,
    threads,
    0,
    start,
    9_000_000,
  ];
  const rest = [rssPages, '18446744073709551615', 1, 1, stack, ...Array<number>(24).fill(0)];
  return Buffer.concat([
    Buffer.from(`${pid} (`),
    Buffer.from(comm),
    Buffer.from(`) ${[...after, ...rest].join(' ')}\n`),
  ]);
};

/** A directory that looks like /proc to whoever reads files. */
export class FakeProc {
  readonly root = mkdtempSync(join(tmpdir(), 'reaptop-proc-'));

  constructor(uptime = 5000) {
    this.uptime(uptime);
    this.file('meminfo', 'MemTotal: 1000 kB\nMemAvailable: 400 kB\nSwapTotal: 100 kB\nSwapFree: 30 kB\n');
    this.file('version', 'Linux version 6.1');
    this.file('sys/kernel/random/boot_id', 'b-o-o-t\n');
  }

  file(path: string, content: string | Buffer): void {
    const full = join(this.root, path);
    mkdirSync(join(full, '..'), { recursive: true });
    writeFileSync(full, content);
  }

  uptime(seconds: number): void {
    this.file('uptime', `${seconds} 1.0\n`);
  }

  put(process: FakeProcess): void {
    this.file(`${process.pid}/stat`, statLine(process));
    this.file(`${process.pid}/cmdline`, process.cmdline ?? 'sleep\x0060\0');
    this.file(`${process.pid}/status`, `Name:\t${process.comm ?? 'sleep'}\nUid:\t1000\t1000\t1000\t1000\n`);
  }

  link(path: string, target: string): void {
    mkdirSync(join(this.root, path, '..'), { recursive: true });
    symlinkSync(target, join(this.root, path));
  }

  end(pid: number): void {
    rmSync(join(this.root, String(pid)), { recursive: true });
  }

  /** Listed but gone: what a reader sees of a process that ends between the listing and the read. */
  vanish(pid: number): void {
    renameSync(join(this.root, `${pid}/stat`), join(this.root, `${pid}/was-stat`));
  }

  close(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
