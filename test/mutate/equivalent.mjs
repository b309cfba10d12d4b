/**
 * Mutants that no test can notice, because they change nothing that can be seen; each with the reason. `from` is what
 * was changed, in a line that holds `code`. The report leaves them out of the score, and says so when one of them is
 * none any more.
 */
export const EQUIVALENT = [
  {
    file: 'rules/climb.ts',
    code: 'if (server.reachable && server.pid !== null)',
    from: 'server.pid !== null',
    by: 'true',
    why: 'null is no pid: nobody asks whether it is among the servers that answered',
  },
  {
    file: 'rules/owner.ts',
    code: 'const ids = [...sessionsNamedBy(node)',
    from: '[]',
    by: '["Stryker was here"]',
    why: 'no session has this id, so nobody can have adopted it',
  },
  {
    file: 'rules/owner.ts',
    code: 'const pids = [...pidsNamedBy(node)',
    from: '[]',
    by: '["Stryker was here"]',
    why: 'a text is no pid, so nobody can be its successor',
  },
  {
    file: 'rules/owner.ts',
    code: 'const by = id === null ? null : world.continued.resumedBy(id)',
    from: 'id === null',
    by: 'false',
    why: 'sessions are found by their ids, and none is called null: nobody resumed it either way',
  },
  {
    file: 'rules/protect.ts',
    code: 'seen.role === null ? undefined : PROTECTED_ROLES[seen.role]',
    from: 'seen.role === null',
    by: 'false',
    why: 'the table has no entry for null, and what it lacks is undefined, too',
  },
  {
    file: 'rules/protect.ts',
    code: 'if (config.protect.length === 0) return null',
    from: 'config.protect.length === 0',
    by: 'false',
    why: 'of no patterns none matches: ending early only saves taking the words of every process apart',
  },
  {
    file: 'rules/protect.ts',
    code: "if (climb.end === 'anchor' && HOSTS[climb.anchor] !== undefined)",
    from: "climb.end === 'anchor'",
    by: 'true',
    why: 'every other end has no anchor, and the table of hosts has no entry for what is not there',
  },
  {
    file: 'rules/verdict.ts',
    code: "if (climb.end === 'stranger' && isRelated(climb.at))",
    from: "climb.end === 'stranger'",
    by: 'true',
    why: 'the only other end that comes here, an unknown one, leads to no process, and no process is not related',
  },
];
