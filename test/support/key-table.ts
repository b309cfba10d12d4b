import { CONTEXT_TITLES, keyName } from '../../src/tui/help/key-names.ts';
import { BINDINGS, type Binding, CONTEXTS } from '../../src/tui/keys/bindings.ts';

/** The manual's table of keys. */
export const keyTable = (): string => {
  const cell = (text: string): string => text.replaceAll('|', '\\|');
  const keys = (binding: Binding): string => binding.keys.map(key => `\`${keyName(key)}\``).join(' ');
  const rows = CONTEXTS.flatMap(context =>
    BINDINGS.filter(b => b.context === context).map(
      b => `| ${CONTEXT_TITLES[context]} | ${cell(keys(b))} | ${cell(b.description)} |`,
    ),
  );
  return ['| where | key | does |', '| --- | --- | --- |', ...rows].join('\n');
};
