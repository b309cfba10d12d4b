import { describe, expect, test } from 'vitest';
import { planOf } from '../../act/fake-system.ts';
import { handOn } from '../hand.ts';

const PLAN = planOf([{ pid: 20, start: 's20' }]);

describe('several keys in one read', () => {
  test('reach a sheet that the first of them opened, in their order', () => {
    const hand = handOn();
    hand.read('?', 'j', 'j', 'k');
    expect(hand.store.view).toMatchObject({ overlay: { kind: 'help' }, overlayScroll: 1 });
    hand.read('escape', 'j', 'S', 'down', 'down');
    expect(hand.store.view.overlay).toEqual({ kind: 'signals', cursor: 2 });
    hand.read('escape', '/', 'p', '3', '1', 'enter');
    expect([hand.store.view.filter, hand.store.view.filterOpen, hand.selected()]).toEqual(['p31', false, 31]);
  });

  test('cannot open a plan and confirm it', async () => {
    const hand = handOn({ answers: { plan: async () => PLAN } });
    hand.read('j', 'x', 'y', 'y');
    await hand.answered();
    hand.read('y');
    expect([hand.store.view.overlay?.kind, hand.asked]).toEqual(['plan', []]);
    expect(hand.said()).toBe('Too early: read the plan, then press y.');
  });

  test('cancel a plan that is still being made', async () => {
    const hand = handOn({ answers: { plan: async () => PLAN } });
    hand.read('j', 'x', 'q');
    await hand.answered();
    expect([hand.store.view.overlay, hand.asked]).toEqual([null, []]);
  });

  test('quit from anywhere with Ctrl-C, whatever waits', () => {
    const hand = handOn();
    hand.read('?', 'j', 'ctrl-c');
    expect(hand.asked).toEqual(['quit 130']);
  });
});

test('a sheet that is left takes no more keys', () => {
  const hand = handOn();
  hand.press('?', 'j', 'escape', 'j');
  expect([hand.store.view.overlay, hand.selected()]).toEqual([null, 20]);
});
