/**
 * `ps`, `lsof`, `launchctl`, `sysctl` and `top` as a Mac has them, on a Linux whose real /proc is at MAC_PROC. Written
 * after Apple's adv_cmds (keywords, widths, strvis, `<defunct>`, no environment for programs of the system), lsof's
 * field output on Darwin and launchctl's list. It is a stand-in: what it does, no Mac has confirmed.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';

const PROC = process.env.MAC_PROC ?? '/proc';
const [, , tool, ...args] = process.argv;

const text = path => {
  try {
    return readFileSync(`${PROC}/${path}`, 'utf8');
  } catch {
    return null;
  }
};
const link = path => {
  try {
    return readlinkSync(`${PROC}/${path}`);
  } catch {
    return null;
  }
};
const pids = () =>
  readdirSync(PROC)
    .filter(name => /^\d+$/.test(name))
    .map(Number);

const HZ = 100;
const boot = Number(/^btime (\d+)/m.exec(text('stat'))?.[1]);

const statOf = pid => {
  const line = text(`${pid}/stat`);
  if (line === null) return null;
  const end = line.lastIndexOf(')');
  const fields = line.slice(end + 2).split(' ');
  const field = n => Number(fields[n - 3]);
  return {
    comm: line.slice(line.indexOf('(') + 1, end),
    state: fields[0],
    ppid: field(4),
    pgid: field(5),
    sid: field(6),
    tty: field(7),
    tpgid: field(8),
    cpu: (field(14) + field(15)) / HZ,
    start: boot + Math.floor(field(22) / HZ),
    rss: field(24) * 4,
  };
};

const LIMIT = 1 << 20;
/** As strvis with VIS_TAB | VIS_NL | VIS_NOSLASH: what is printable in this locale stays. */
const vis = words =>
  words.slice(0, LIMIT).replace(/[\0-\x1f\x7f]/g, c => `^${String.fromCharCode(c.charCodeAt(0) ^ 64)}`);

/** Programs of the system are closed: the kernel keeps their environment to itself. */
const isRestricted = pid => /^\/(?:usr\/)?s?bin\/(?!node)/.test(link(`${pid}/exe`) ?? '/bin/x');

const argsOf = (pid, stat, withEnvironment, user) => {
  if (stat.state === 'Z') return '<defunct>';
  const line = (text(`${pid}/cmdline`) ?? '').replace(/\0$/, '').split('\0').join(' ');
  if (line === '') return `(${stat.comm})`;
  const own = user === process.getuid();
  const env = withEnvironment && own && !isRestricted(pid) ? (text(`${pid}/environ`) ?? '') : '';
  return vis(env === '' ? line : `${line} ${env.replace(/\0$/, '').split('\0').join(' ')}`);
};

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = n => String(n).padStart(2, '0');
export const lstart = seconds => {
  const d = new Date(seconds * 1000);
  const utc = process.env.TZ === 'UTC';
  const get = name => (utc ? d[`getUTC${name}`]() : d[`get${name}`]());
  return `${DAYS[get('Day')]} ${MONTHS[get('Month')]} ${String(get('Date')).padStart(2)} ${two(get('Hours'))}:${two(get('Minutes'))}:${two(get('Seconds'))} ${get('FullYear')}`;
};

const cpuTime = seconds => `${Math.floor(seconds / 60)}:${(seconds % 60).toFixed(2).padStart(5, '0')}`;
const tdev = tty => (tty === 0 ? '??' : `16/${(tty & 0xff) | ((tty >> 12) & 0xfff00)}`);
const stateOf = ({ state, sid, tpgid, pgid }, pid) =>
  `${{ D: 'U', t: 'T' }[state] ?? state}${sid === pid ? 's' : ''}${tpgid === pgid ? '+' : ''}`;

const uidsOf = pid => (/^Uid:\s+(\d+)\s+(\d+)/m.exec(text(`${pid}/status`) ?? '') ?? []).slice(1).map(Number);

/** Width, whether it is flush left, and what is printed. */
const KEYWORDS = {
  pid: [5, false, p => p.pid],
  ppid: [5, false, p => p.stat.ppid],
  pgid: [5, false, p => p.stat.pgid],
  tdev: [4, false, p => tdev(p.stat.tty)],
  stat: [4, true, p => stateOf(p.stat, p.pid)],
  uid: [5, false, p => p.uid],
  ruid: [5, false, p => p.realUid],
  rss: [6, false, p => p.stat.rss],
  time: [9, false, p => cpuTime(p.stat.cpu)],
  lstart: [28, true, p => lstart(p.stat.start)],
  ucomm: [16, true, p => vis(p.stat.comm).slice(0, 16)],
  args: [0, true, p => argsOf(p.pid, p.stat, p.withEnvironment, p.uid)],
};

const ps = () => {
  if (process.env.MAC_PS === 'refused') {
    process.stderr.write('ps: Operation not permitted\n');
    return 1;
  }
  const columns = args.flatMap((word, at) => (args[at - 1] === '-o' ? [word.replace(/=$/, '')] : []));
  const list = args[args.indexOf('-p') + 1];
  const wanted = args.includes('-p') ? new Set(list.split(',').map(Number)) : null;
  const flags = args[0];
  if (columns.includes('tty') || (wanted !== null && wanted.size > 1 && !flags.includes('x'))) {
    process.stderr.write('ps: this takes seconds on a busy Mac\n');
    return 1;
  }
  const rows = [];
  for (const pid of pids()) {
    if (wanted !== null && !wanted.has(pid)) continue;
    const stat = statOf(pid);
    const [realUid, uid] = uidsOf(pid);
    if (stat === null || uid === undefined) continue;
    if (wanted === null && !flags.includes('a') && uid !== process.getuid()) continue;
    const row = { pid, stat, uid, realUid, withEnvironment: flags.includes('E') };
    rows.push(
      columns
        .map((keyword, at) => {
          const [width, left, cell] = KEYWORDS[keyword];
          const said = String(cell(row));
          if (at === columns.length - 1) return said;
          // printf counts bytes.
          const pad = ' '.repeat(Math.max(0, width - Buffer.byteLength(said)));
          return left ? said + pad : pad + said;
        })
        .join(' '),
    );
  }
  process.stdout.write(rows.map(row => `${row}\n`).join(''));
  return rows.length === 0 ? 1 : 0;
};

const TCP = { '01': 'ESTABLISHED', '0A': 'LISTEN', '08': 'CLOSE_WAIT' };
const addressOf = (hex, isSix) => {
  const [host, port] = hex.split(':');
  const number = Number.parseInt(port, 16);
  const any = /^0+$/.test(host);
  const name = any
    ? '*'
    : isSix
      ? '[::1]'
      : host
          .match(/../g)
          .reverse()
          .map(byte => Number.parseInt(byte, 16))
          .join('.');
  return `${name}:${number}`;
};

/** TCP sockets by inode. */
const tcpSockets = () => {
  const found = new Map();
  for (const [file, type] of [
    ['tcp', 'IPv4'],
    ['tcp6', 'IPv6'],
  ])
    for (const line of (text(`self/net/${file}`) ?? '').split('\n').slice(1)) {
      const cells = line.trim().split(/\s+/);
      if (cells.length < 10) continue;
      const [here, there] = [addressOf(cells[1], file === 'tcp6'), addressOf(cells[2], file === 'tcp6')];
      const state = TCP[cells[3]] ?? 'CLOSED';
      found.set(cells[9], { type, name: state === 'LISTEN' ? here : `${here}->${there}`, tcp: state });
    }
  return found;
};

/** Unix sockets by inode: address and peer, from the kernel by netlink. */
const unixSockets = () => {
  const found = new Map();
  const { stdout } = spawnSync('ss', ['-xaH'], {
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' },
  });
  for (const line of (stdout ?? '').split('\n')) {
    const cells = line.trim().split(/\s+/);
    if (cells.length >= 8) found.set(cells[5], { path: cells[4], peer: cells[7] });
  }
  return found;
};

const ttyPath = path =>
  path
    .replace(/^\/dev\/pts\/(\d+)/, (_, n) => `/dev/ttys${n.padStart(3, '0')}`)
    .replace(' (deleted)', ' (revoked)');

const filesOf = (pid, tcp, unix) => {
  const cwd = link(`${pid}/cwd`);
  const files = cwd === null ? [] : [{ fd: 'cwd', type: 'DIR', name: cwd }];
  let fds = [];
  try {
    fds = readdirSync(`${PROC}/${pid}/fd`);
  } catch {
    return []; // another user's
  }
  for (const fd of fds) {
    const to = link(`${pid}/fd/${fd}`);
    if (to === null) continue;
    const inode = /^(?:socket|pipe):\[(\d+)\]$/.exec(to)?.[1];
    if (to.startsWith('pipe:')) files.push({ fd, type: 'PIPE', device: `0x${inode}`, name: `->0x${inode}` });
    else if (inode !== undefined && tcp.has(inode))
      files.push({ fd, device: `0x${inode}`, ...tcp.get(inode) });
    else if (inode !== undefined && unix.has(inode)) {
      const { path, peer } = unix.get(inode);
      const name = path !== '*' ? path : peer === '0' ? '->(none)' : `->0x${peer}`;
      files.push({ fd, type: 'unix', device: `0x${inode}`, name });
    } else if (to.startsWith('/dev/pts/') || to.startsWith('/dev/'))
      files.push({ fd, type: 'CHR', name: ttyPath(to) });
    else if (to.startsWith('/'))
      files.push({ fd, type: existsSync(to) && statSync(to).isDirectory() ? 'DIR' : 'REG', name: to });
  }
  return files;
};

const lsof = () => {
  if (process.env.MAC_LSOF === 'hangs') {
    setInterval(() => {}, 1000);
    return null;
  }
  const after = flag => {
    const at = args.indexOf(flag);
    return at < 0 ? null : args[at + 1];
  };
  const listed = after('-p')?.split(',').map(Number);
  const uid = after('-u');
  const [tcp, unix] = [tcpSockets(), unixSockets()];
  let found = false;
  for (const pid of listed ?? pids()) {
    const [, owner] = uidsOf(pid);
    if (owner !== process.getuid() || (uid !== null && owner !== Number(uid))) continue;
    const files = filesOf(pid, tcp, unix).filter(file => {
      if (args.includes('-iTCP')) return file.tcp !== undefined;
      if (args.includes('-U')) return file.type === 'unix';
      return after('-d') !== 'cwd' || file.fd === 'cwd';
    });
    if (files.length === 0) continue;
    found = true;
    process.stdout.write(`p${pid}\n`);
    for (const { fd, type, device, name, tcp: state } of files)
      process.stdout.write(
        `f${fd}\nt${type}\n${device === undefined ? '' : `d${device}\n`}n${name}\n${state === undefined ? '' : `TST=${state}\n`}`,
      );
  }
  return found ? 0 : 1;
};

const launchctl = () => {
  if (process.env.MAC_LAUNCHCTL === 'fails') return 1;
  const jobs = process.env.MAC_JOBS;
  process.stdout.write('PID\tStatus\tLabel\n-\t0\tcom.apple.idle\n');
  if (jobs !== undefined && existsSync(jobs)) process.stdout.write(readFileSync(jobs, 'utf8'));
  return 0;
};

const sysctl = () => {
  process.stdout.write(
    'kern.bootsessionuuid: 5D1C6D5B-9D0B-4C38-8A0E-0F1F0B6B7F11\nkern.memorystatus_level: 57\nvm.swapusage: total = 2048.00M  used = 512.25M  free = 1535.75M  (encrypted)\nkern.memorystatus_vm_pressure_level: 1\n',
  );
  return 0;
};

const top = () => {
  process.stdout.write(
    `Processes: 400 total\nPID    MEM\n${pids()
      .map(pid => `${pid}  42M+\n`)
      .join('')}`,
  );
  return 0;
};

if (process.env.MAC_LOG !== undefined) appendFileSync(process.env.MAC_LOG, `${[tool, ...args].join(' ')}\n`);
const code = { ps, lsof, launchctl, sysctl, top }[tool]();
if (code !== null) process.exitCode = code;
