import type { Scene } from '../stage/scene.ts';
import { claudeKilled, claudeLive } from './claude-killed.ts';

export const SCENES: readonly Scene[] = [claudeLive, claudeKilled];
