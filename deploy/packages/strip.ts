import { stripTypeScriptTypes } from 'node:module';

/**
 * The JavaScript of a module: its source with spaces for the types, as Node runs it in this repository.
 * Every statement keeps its line and its column.
 */
export function javaScriptOf(source: string): string {
  const lines = source.split('\n');
  const stripped = stripTypeScriptTypes(source).split('\n');
  // A line of a template may end in spaces; those of other lines were types.
  const trimmed = stripped.map((line, at) => (/\s$/.test(lines[at] ?? '') ? line : line.trimEnd()));
  return withJavaScriptImports(trimmed.join('\n'));
}

/** Replaces `./x.ts` by `./x.js`, in imports and exports of JavaScript and of declarations. */
export function withJavaScriptImports(code: string): string {
  return code.replace(
    /(\bfrom\s*|\bimport\s*\(?\s*)(['"])(\.[^'"\n]*)\.ts\2/g,
    (_match, statement, quote, file) => `${statement}${quote}${file}.js${quote}`,
  );
}
