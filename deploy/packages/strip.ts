import { stripTypeScriptTypes } from 'node:module';

/**
 * The JavaScript of a module: its source with spaces for the types, as Node runs it in this repository.
 * Every statement keeps its line and its column.
 */
export function javaScriptOf(source: string): string {
  return withJavaScriptImports(stripTypeScriptTypes(source));
}

/** Replaces `./x.ts` by `./x.js`, in imports and exports of JavaScript and of declarations. */
export function withJavaScriptImports(code: string): string {
  return code.replace(
    /(\bfrom\s*|\bimport\s*\(?\s*)(['"])(\.[^'"\n]*)\.ts\2/g,
    (_match, statement, quote, file) => `${statement}${quote}${file}.js${quote}`,
  );
}

/** The source map of a module whose JavaScript has the lines of its source (ECMA-426). */
export function sourceMapOf(source: string, file: string): string {
  const lines = source.split('\n').length - 1;
  const mappings = `AAAA${';AACA'.repeat(lines)}`;
  return JSON.stringify({ version: 3, sources: [file], names: [], mappings });
}
