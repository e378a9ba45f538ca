import ts from 'typescript';

/** A module that a source file names, however it does: values, types, re-exports, `import()`, `require`, side effects. */
export interface Reference {
  readonly specifier: string;
  readonly line: number;
  /** `export * from` or `export * as x from`. */
  readonly isExportAll: boolean;
}

/** Every module that a text refers to, by TypeScript's own parser: what stands in a comment or a string is not one. */
export function referencesOf(path: string, text: string): Reference[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const requirers = new Set(['require', ...namesOfRequirers(source)]);
  const references: Reference[] = [];
  const visit = (node: ts.Node): void => {
    const named = moduleNamedBy(node, requirers);
    if (named && ts.isStringLiteralLike(named)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
      references.push({ specifier: named.text, line: line + 1, isExportAll: isExportAll(node) });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return references;
}

function moduleNamedBy(node: ts.Node, requirers: ReadonlySet<string>): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isImportTypeNode(node)) return ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined;
  if (ts.isExternalModuleReference(node)) return node.expression;
  if (!ts.isCallExpression(node)) return undefined;
  return loads(node.expression, requirers) ? node.arguments[0] : undefined;
}

/** `import(…)`, `import.meta.resolve(…)`, `require(…)` and `require.resolve(…)`, the latter two under any name. */
function loads(callee: ts.Expression, requirers: ReadonlySet<string>): boolean {
  if (callee.kind === ts.SyntaxKind.ImportKeyword || isCreateRequire(callee)) return true;
  if (ts.isIdentifier(callee)) return requirers.has(callee.text);
  if (!ts.isPropertyAccessExpression(callee) || callee.name.text !== 'resolve') return false;
  const owner = callee.expression;
  return ts.isMetaProperty(owner) || isCreateRequire(owner) || (ts.isIdentifier(owner) && requirers.has(owner.text));
}

function isCreateRequire(node: ts.Node): boolean {
  return ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'createRequire';
}

function namesOfRequirers(source: ts.SourceFile): string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    const made = ts.isVariableDeclaration(node) && node.initializer && isCreateRequire(node.initializer);
    if (made && ts.isIdentifier(node.name)) names.push(node.name.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return names;
}

function isExportAll(node: ts.Node): boolean {
  return ts.isExportDeclaration(node) && (!node.exportClause || ts.isNamespaceExport(node.exportClause));
}
