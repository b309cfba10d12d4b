import type { Check, HealthFacts } from '../../model/health.ts';

export type HealthCheck = (facts: HealthFacts) => Check;

export const ok = (says: string): Check => ({ level: 'ok', says, todo: null });
export const warn = (says: string, todo: string): Check => ({ level: 'warn', says, todo });
export const fail = (says: string, todo: string): Check => ({ level: 'fail', says, todo });
