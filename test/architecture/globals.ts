import type { Node, Program } from 'oxc-parser';

/** A use of a name that nothing in the file declares: what the file takes from the world without importing it. */
export interface GlobalUse {
  readonly name: string;
  /** The nodes around it, innermost first. */
  readonly around: readonly Node[];
}

type Children = Readonly<Record<string, unknown>>;

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';

export const childrenOf = (node: Node): readonly (readonly [key: string, child: Node])[] =>
  Object.entries(node as unknown as Children).flatMap(([key, value]) =>
    (Array.isArray(value) ? value : [value]).filter(isNode).map(child => [key, child] as const),
  );

/** What only the compiler sees. */
const TYPES = new Set(['typeAnnotation', 'typeParameters', 'typeArguments', 'returnType', 'implements']);
const TYPE_STATEMENTS = new Set(['TSInterfaceDeclaration', 'TSTypeAliasDeclaration', 'TSDeclareFunction']);

/** The names that a pattern binds. */
const bound = (pattern: Node | null): string[] => {
  switch (pattern?.type) {
    case 'Identifier':
      return [pattern.name];
    case 'ObjectPattern':
      return pattern.properties.flatMap(p => bound(p.type === 'RestElement' ? p.argument : p.value));
    case 'ArrayPattern':
      return pattern.elements.flatMap(element => bound(element));
    case 'AssignmentPattern':
      return bound(pattern.left);
    case 'RestElement':
      return bound(pattern.argument);
    case 'TSParameterProperty':
      return bound(pattern.parameter);
    default:
      return [];
  }
};

/** The names that one statement brings into the scope it stands in. */
const declared = (statement: Node | null): string[] => {
  switch (statement?.type) {
    case 'VariableDeclaration':
      return statement.declarations.flatMap(({ id }) => bound(id));
    case 'FunctionDeclaration':
    case 'ClassDeclaration':
      return bound(statement.id);
    case 'ImportDeclaration':
      return statement.specifiers.map(({ local }) => local.name);
    case 'ExportNamedDeclaration':
      return declared(statement.declaration);
    default:
      return [];
  }
};

/** The names that a node adds to what can be seen inside it. */
const scopeOf = (node: Node): string[] => {
  switch (node.type) {
    case 'Program':
    case 'BlockStatement':
      return node.body.flatMap(statement => declared(statement));
    case 'SwitchStatement':
      return node.cases.flatMap(({ consequent }) => consequent.flatMap(statement => declared(statement)));
    case 'ForStatement':
      return declared(node.init);
    case 'ForInStatement':
    case 'ForOfStatement':
      return declared(node.left);
    case 'CatchClause':
      return bound(node.param);
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return [...bound(node.id), ...node.params.flatMap(parameter => bound(parameter)), 'arguments'];
    case 'ClassExpression':
      return bound(node.id);
    default:
      return [];
  }
};

/** Whether an identifier is only the name of a property, and names nothing of its own. */
const isLabel = (key: string, parent: Node): boolean =>
  (key === 'property' && parent.type === 'MemberExpression' && !parent.computed) ||
  (key === 'key' && 'computed' in parent && !parent.computed) ||
  parent.type === 'ImportSpecifier' ||
  parent.type === 'ExportSpecifier' ||
  parent.type === 'MetaProperty';

/** Every use of a global. */
export const globalUses = (program: Program): readonly GlobalUse[] => {
  const uses: GlobalUse[] = [];
  const visit = (node: Node, key: string, around: readonly Node[], known: ReadonlySet<string>): void => {
    if (TYPES.has(key) || TYPE_STATEMENTS.has(node.type)) return;
    if (node.type === 'ImportDeclaration' || (node.type === 'ExportNamedDeclaration' && node.source)) return;
    const parent = around[0];
    if (node.type === 'Identifier' && parent && !isLabel(key, parent) && !known.has(node.name))
      uses.push({ name: node.name, around });
    const own = scopeOf(node);
    const inside = own.length === 0 ? known : new Set([...known, ...own]);
    for (const [name, child] of childrenOf(node)) visit(child, name, [node, ...around], inside);
  };
  visit(program, '', [], new Set());
  return uses;
};
