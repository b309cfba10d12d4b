import type { ReactNode } from 'react';
import { footerLine } from '../content/footer.ts';
import type { Screen } from '../view/screen.ts';
import { Rows } from './row.tsx';

const lines = (screen: Screen) => [footerLine(screen)];

/** The last row: what happened, what is being typed, or the keys. */
export const Footer = (): ReactNode => <Rows of={lines} />;
