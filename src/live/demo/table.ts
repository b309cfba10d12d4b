/**
 * The processes of an invented machine, rich enough to show every verdict and shape of tree.
 * pid | parent | kind | name | MiB | swap MiB | CPU % | age | state | tty | tmux session and pane | cwd | command
 * `~` is the home directory of somebody who does not exist.
 */
export const DEMO_TABLE = `
1    | 0    | other        | systemd                  | 12   |     |     | 30d00h | S |       |              |                         | /sbin/init
412  | 1    | other        | sshd                     | 9    |     |     | 30d00h | S |       |              |                         | sshd: /usr/sbin/sshd -D
640  | 1    | other        | dockerd                  | 81   |     | 1   | 30d00h | S |       |              |                         | /usr/bin/dockerd -H fd://
702  | 1    | other        | postgres                 | 64   |     |     | 30d00h | S |       |              |                         | postgres -D /var/lib/postgresql/16/main
711  | 702  | other        | postgres                 | 17   |     |     | 30d00h | S |       |              |                         | postgres: checkpointer
712  | 702  | other        | postgres                 | 11   |     |     | 30d00h | S |       |              |                         | postgres: walwriter
980  | 1    | other        | code-server              | 190  |     | 1   | 2d00h  | S |       |              |                         | node out/server-main.js
1201 | 1    | tmux         | tmux                     | 9    |     |     | 6d00h  | S |       |              |                         | tmux new -s main
5200 | 1    | tmux         | tmux                     | 6    |     |     | 3h00m  | S |       |              |                         | tmux -L agents new -d -s agent_688
1210 | 1201 | shell        | zsh                      | 7    |     |     | 6d00h  | S | pts/0 | main %0      |                         | -zsh
1342 | 1210 | agent claude | claude                   | 412  |     | 14  | 5h12m  | R | pts/0 | main %0      | ~/src/webshop           | claude --continue
1360 | 1342 | wrapper      | npm exec @playwright/mcp | 71   |     |     | 5h11m  | S |       | main %0      | ~/src/webshop           | npm exec @playwright/mcp@latest
1388 | 1360 | mcp          | playwright-mcp           | 118  |     |     | 5h11m  | S |       | main %0      | ~/src/webshop           | node ~/.npm/_npx/9833/node_modules/.bin/playwright-mcp
1402 | 1342 | mcp          | chroma-mcp               | 204  |     |     | 5h11m  | S |       | main %0      | ~/src/webshop           | python ~/.cache/uv/bin/chroma-mcp --client-type persistent
2860 | 1342 | shell        | zsh                      | 4    |     |     | 38s    | S |       | main %0      | ~/src/webshop           | zsh -c 'npm test -- --run checkout'
2871 | 2860 | other        | vitest                   | 186  |     | 92  | 37s    | R |       | main %0      | ~/src/webshop           | node (vitest) --run checkout
1215 | 1201 | shell        | zsh                      | 7    |     |     | 6d00h  | S | pts/1 | main %1      |                         | -zsh
1501 | 1215 | agent claude | claude                   | 538  |     |     | 1d03h  | S | pts/1 | main %1      | ~/proofs/sphere-packing | claude --resume 0d9f2c7e-3a1b-4c55-8d7e-1f2a3b4c5d6e
1518 | 1501 | wrapper      | uvx lean-lsp-mcp         | 29   |     |     | 1d03h  | S |       | main %1      | ~/proofs/sphere-packing | uvx lean-lsp-mcp
1522 | 1518 | lean-lsp     | lean-lsp-mcp             | 164  |     |     | 1d03h  | S |       | main %1      | ~/proofs/sphere-packing | python ~/.cache/uv/bin/lean-lsp-mcp
1530 | 1522 | lake         | lake serve               | 48   |     |     | 1d02h  | S |       | main %1      | ~/proofs/sphere-packing | lake serve --
1541 | 1530 | lean         | lean --server            | 93   |     |     | 1d02h  | S |       | main %1      | ~/proofs/sphere-packing | lean --server
1550 | 1541 | lean         | lean --worker            | 1260 |     | 99  | 51m    | R |       | main %1      | ~/proofs/sphere-packing | lean --worker file://~/proofs/sphere-packing/Sphere/Density.lean
1551 | 1541 | lean         | lean --worker            | 884  |     |     | 2h00m  | S |       | main %1      | ~/proofs/sphere-packing | lean --worker file://~/proofs/sphere-packing/Sphere/Bounds.lean
1601 | 1522 | lake         | lake.orig                | 0    |     |     | 4h00m  | Z |       | main %1      |                         | lake.orig
1602 | 1522 | lake         | lake.orig                | 0    |     |     | 3h00m  | Z |       | main %1      |                         | lake.orig
1603 | 1522 | lake         | lake.orig                | 0    |     |     | 52m    | Z |       | main %1      |                         | lake.orig
1220 | 1201 | shell        | zsh                      | 7    |     |     | 6d00h  | S | pts/2 | main %2      |                         | -zsh
1700 | 1220 | agent codex  | codex                    | 61   |     |     | 3h40m  | S | pts/2 | main %2      | ~/src/prices-api          | node /usr/local/bin/codex
1712 | 1700 | agent codex  | codex (native)           | 143  |     | 3   | 3h40m  | S | pts/2 | main %2      | ~/src/prices-api          | /usr/local/lib/node_modules/@openai/codex/vendor/codex
1730 | 1712 | mcp          | github-mcp-server        | 38   |     |     | 3h40m  | S |       | main %2      |                         | github-mcp-server stdio
2095 | 1201 | shell        | bash                     | 5    |     |     | 2d00h  | S | pts/5 | lean %5      |                         | -bash
2101 | 2095 | agent claude | claude                   | 377  |     |     | 9h00m  | S | pts/5 | lean %5      | ~/proofs/mathlib-fork   | claude
2140 | 2101 | lake         | lake build               | 112  |     |     | 22m    | S |       | lean %5      | ~/proofs/mathlib-fork   | lake build Mathlib.Topology
2151 | 2140 | lean         | lean                     | 702  |     | 100 | 48s    | R |       | lean %5      | ~/proofs/mathlib-fork   | lean -R . -o .lake/build/lib/Mathlib/Topology/Order.olean Mathlib/Topology/Order.lean
2152 | 2140 | lean         | lean                     | 655  |     | 98  | 31s    | R |       | lean %5      | ~/proofs/mathlib-fork   | lean -R . -o .lake/build/lib/Mathlib/Topology/Bases.olean Mathlib/Topology/Bases.lean
2190 | 2101 | lake         | lake build               | 96   |     |     | 6m     | D |       | lean %5      | ~/proofs/mathlib-fork   | lake build
5210 | 5200 | shell        | bash                     | 4    |     |     | 3h00m  | S | pts/8 | agent_688 %0 |                         | bash run-agent.sh 688
5230 | 5210 | agent claude | claude -p                | 455  |     |     | 3h00m  | S | pts/8 | agent_688 %0 | ~/proofs/task-688       | claude -p --output-format stream-json --session-id 7f3e2d1c-0b9a-4857-a6f5-e4d3c2b1a098
5262 | 5230 | lean-lsp     | lean-lsp-mcp             | 936  |     | 1   | 2h58m  | S |       | agent_688 %0 | ~/proofs/task-688       | python ~/.cache/uv/bin/lean-lsp-mcp
5310 | 5200 | shell        | bash                     | 4    |     |     | 47m    | S | pts/9 | agent_701 %1 |                         | bash run-agent.sh 701
5330 | 5310 | agent claude | claude -p                | 398  |     | 7   | 47m    | S | pts/9 | agent_701 %1 | ~/proofs/task-701       | claude -p --output-format stream-json --session-id 19b8c7d6-e5f4-4a3b-92c1-d0e9f8a7b6c5
3310 | 1    | wrapper      | npm exec context7-mcp    | 8    | 61  |     | 2d04h  | S |       |              |                         | npm exec @upstash/context7-mcp
3331 | 3310 | mcp          | context7-mcp             | 12   | 97  |     | 2d04h  | S |       |              |                         | node ~/.npm/_npx/51ab/node_modules/.bin/context7-mcp
3402 | 1    | lean-lsp     | lean-lsp-mcp             | 131  | 22  |     | 19h00m | S |       |              | ~/proofs/sphere-packing | python ~/.cache/uv/bin/lean-lsp-mcp
3440 | 3402 | lake         | lake serve               | 44   |     |     | 19h00m | S |       |              | ~/proofs/sphere-packing | lake serve --
3450 | 3440 | lean         | lean --server            | 90   |     |     | 19h00m | S |       |              | ~/proofs/sphere-packing | lean --server
3460 | 3450 | lean         | lean --worker            | 1490 | 610 |     | 18h00m | S |       |              | ~/proofs/sphere-packing | lean --worker file://~/proofs/sphere-packing/Sphere/Density.lean
3471 | 3402 | lake         | lake.orig                | 0    |     |     | 17h00m | Z |       |              |                         | lake.orig
3472 | 3402 | lake         | lake.orig                | 0    |     |     | 17h00m | Z |       |              |                         | lake.orig
3505 | 1    | mcp          | chrome-devtools-mcp      | 96   |     |     | 11h00m | S |       |              |                         | chrome-devtools-mcp
3520 | 3505 | browser      | chrome                   | 241  |     | 4   | 11h00m | S |       |              |                         | chrome --headless=new --remote-debugging-pipe --user-data-dir=/tmp/devtools-profile
3533 | 3520 | browser      | chrome                   | 187  |     |     | 11h00m | S |       |              |                         | chrome --type=renderer
3701 | 1    | other        | vite                     | 233  |     |     | 7h00m  | S |       |              | ~/src/webshop           | node ~/src/webshop/node_modules/.bin/vite --port 5173
3755 | 1    | agent claude | claude -p                | 301  |     |     | 6h00m  | S |       |              | ~/notes                 | claude -p summarise-nightly
3790 | 3755 | mcp          | memory-mcp               | 54   |     |     | 6h00m  | S |       |              |                         | node memory-mcp
4001 | 980  | agent claude | claude (VS Code)         | 366  |     | 2   | 4h00m  | S |       |              | ~/src/atlas-docs        | ~/.vscode-server/extensions/anthropic.claude-code/resources/native-binary/claude --output-format stream-json
4020 | 4001 | mcp          | playwright-mcp           | 101  |     |     | 4h00m  | S |       |              |                         | node playwright-mcp
4101 | 1    | other        | worker-service --daemon  | 88   |     |     | 6d00h  | S |       |              |                         | bun worker-service.cjs --daemon
4150 | 1    | agent claude | claude daemon            | 77   |     |     | 6d00h  | S |       |              |                         | claude daemon
`;
