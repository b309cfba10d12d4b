import type { ReactNode } from 'react';
import { footerLines } from '../content/footer.ts';
import { Rows } from './row.tsx';

/** The last row, or rows: what happened, what is being typed, or the keys. */
export const Footer = (): ReactNode => <Rows of={footerLines} />;
