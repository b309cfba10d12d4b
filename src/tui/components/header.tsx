import type { ReactNode } from 'react';
import { headerLines } from '../content/header.ts';
import { Rows } from './row.tsx';

/** Who, where, how often; then the numbers people glance at. */
export const Header = (): ReactNode => <Rows of={headerLines} />;
