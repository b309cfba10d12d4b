import { describe, expect, it } from 'vitest';
import { archivedAt, archivedName, isArchivedName } from '../../../src/judge/plan/sweep-plan.ts';

const NOON = Date.UTC(2026, 0, 27, 12, 34, 56, 789);
const ARCHIVED = 'a_stream.jsonl.archived-20260127T123456Z';

describe('the name of an archived file', () => {
  it('says when it was archived, to the second', () => {
    expect(archivedName('a_stream.jsonl', NOON)).toBe(ARCHIVED);
    expect(archivedAt(ARCHIVED, NOON)).toBe(Date.UTC(2026, 0, 27, 12, 34, 56));
    expect(archivedAt(`${ARCHIVED}.2`, NOON)).toBe(Date.UTC(2026, 0, 27, 12, 34, 56));
  });

  it.each(['notes.txt', 'a_stream.jsonl', 'a_stream.jsonl.1', 'a_stream.jsonl.archived-20269999T999999Z'])(
    'says nothing of the kind: %s',
    name => {
      expect(archivedAt(name, NOON)).toBeNull();
    },
  );

  it('is not believed from the future', () => {
    expect(archivedAt(ARCHIVED, NOON - 789)).not.toBeNull();
    expect(archivedAt(ARCHIVED, NOON - 790)).toBeNull();
  });

  it.each([
    ['a_stream.jsonl', true],
    ['a_stream.jsonl.12', true],
    [ARCHIVED, true],
    [`${ARCHIVED}.2`, true],
    ['a_streamXjsonl', false],
    ['a_stream.jsonl.bak', false],
    ['notes.txt', false],
    ['agent_prompt_a.txt', false],
    [`my ${ARCHIVED} copy`, false],
  ])('%s is one that we may have given: %s', (name, ours) => {
    expect(isArchivedName(name)).toBe(ours);
  });
});
