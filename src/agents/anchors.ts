import type { AnchorKind } from '../model/kind.ts';
import { type Family, list } from './family-type.ts';

const EDITOR_SERVERS = list(`
  .vscode-server .vscode-server-insiders .vscode-remote .vscodium-server .cursor-server .windsurf-server
  .antigravity-server code-server`);
const EDITOR_SERVER_FILES = list(`
  server-main.js bootstrap-fork bootstrap-fork.js server.sh code-server cursor-server entry.js`);

/** Programs below which everything counts as live: a user or a service is responsible for it. */
const BY_NAME = {
  terminal: list(`
    gnome-terminal gnome-terminal- gnome-terminal-server konsole xterm uxterm alacritty kitty wezterm-gui
    wezterm-mux-server foot footclient ghostty iTerm2 iTermServer Terminal tilix terminator xfce4-terminal urxvt
    urxvtd rxvt st ptyxis ptyxis-agent kgx warp warp-terminal hyper tabby WindowsTerminal mintty terminology
    lxterminal qterminal mate-terminal guake yakuake deepin-terminal cool-retro-term rio contour ttyd gotty
    screen SCREEN zellij dtach abduco`),
  'remote-login': list(`
    sshd sshd-session sshd-auth mosh-server dropbear in.telnetd telnetd etserver etterminal teleport xrdp-sesman`),
  login: list(`
    login agetty getty mingetty gdm-session-worker gdm-x-session gdm-wayland-session lightdm sddm sddm-helper`),
  cron: list('cron crond CRON CROND atd anacron fcron'),
  editor: [
    ...list(`
      code code-insiders code-oss codium code-tunnel code-server cursor Cursor windsurf Windsurf antigravity Code
      nvim vim vi view emacs Emacs nano hx helix kak micro subl sublime_text gedit kate lapce zed zed-editor
      zed-remote-server idea idea.sh pycharm webstorm goland clion rider phpstorm rubymine rustrover fleet
      remote-dev-server remote-dev-server.sh jetbrains_client`),
    'Code Helper',
    'Code Helper (Plugin)',
    'Cursor Helper',
    'Cursor Helper (Plugin)',
  ],
  'desktop-app': list(`
    gnome-shell plasmashell kwin_wayland kwin_x11 sway Hyprland i3 claude-desktop electron Electron Finder Dock`),
  'service-manager': list(`
    systemd init supervisord PM2 pm2 runsv runsvdir s6-supervise s6-svscan containerd containerd-shim
    containerd-shim-runc-v2 dockerd conmon tini dumb-init docker-init catatonit circusd monit procd openrc-run
    dinit shepherd kubelet nomad buildkite-agent gitlab-runner Runner.Worker Runner.Listener`),
} as const satisfies Record<AnchorKind, readonly string[]>;

const named = (Object.keys(BY_NAME) as AnchorKind[]).map(
  (anchor): Family => ({ id: anchor, kind: 'other', anchor, programs: BY_NAME[anchor] }),
);

/** Adopters of orphans and WSL's own processes come first: their names also appear among the service managers. */
export const ANCHORS: readonly Family[] = [
  {
    id: 'systemd-user',
    kind: 'other',
    name: 'systemd --user',
    programs: ['systemd'],
    only: [{ flag: ['--user'] }],
    adoptsOrphans: true,
  },
  { id: 'launchd', kind: 'other', name: 'launchd', programs: ['launchd'], adoptsOrphans: true },
  {
    id: 'wsl',
    kind: 'other',
    comms: ['Relay(', 'SessionLeader', 'init('],
    tokens: ['/init', 'SessionLeader'],
    role: 'wsl-plumbing',
    adoptsOrphans: true,
  },
  {
    id: 'wsl-localhost',
    kind: 'other',
    name: 'wsl localhost',
    programs: ['localhost', 'plan9'],
    only: [{ flag: ['--port-tracker-fd', '--control-socket'] }],
    role: 'wsl-plumbing',
  },
  {
    id: 'editor-server',
    kind: 'other',
    anchor: 'editor',
    paths: EDITOR_SERVERS.map(under => ({ under, file: EDITOR_SERVER_FILES })),
  },
  ...named,
  {
    id: 'macos-app',
    kind: 'other',
    anchor: 'desktop-app',
    paths: [{ under: 'Contents/MacOS', direct: true }],
  },
];

/**
 * The server keeps the argv of the command that first started it (`tmux new -s agent_7 claude`), and only
 * Linux renames the process. Without that name it counts as the server unless its command is a client's:
 * to protect a client too much costs nothing.
 */
export const TMUX: readonly Family[] = [
  { id: 'tmux', kind: 'tmux', name: 'tmux server', comms: ['tmux: server'], role: 'tmux-server' },
  { id: 'tmux', kind: 'tmux', name: 'tmux client', comms: ['tmux: client'], role: 'tmux-client' },
  {
    id: 'tmux',
    kind: 'tmux',
    name: 'tmux server',
    programs: ['tmux'],
    role: 'tmux-server',
    valueFlags: ['-L', '-S', '-f', '-c', '-T'],
    forms: [
      {
        when: {
          command: ['attach', 'attach-session', 'a', 'at', 'client', 'wait-for', 'wait', 'switch-client'],
        },
        role: 'tmux-client',
        name: 'tmux client',
      },
      { when: { flag: ['-C', '-CC'] }, role: 'tmux-client', name: 'tmux client' },
    ],
  },
];
