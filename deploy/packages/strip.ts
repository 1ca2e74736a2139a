import { stripTypeScriptTypes } from 'node:module';

/**
 * The JavaScript of a module: its source without types, as Node runs it in this repository. Every
 * statement keeps its line.
 */
export function javaScriptOf(source: string): string {
  const lines = source.split('\n');
  const stripped = stripTypeScriptTypes(source).split('\n');
  return withJavaScriptImports(stripped.map((line, at) => close(line, lines[at] ?? '')).join('\n'));
}

/** Closes the gaps where Node replaced the types of `original` by spaces. */
function close(line: string, original: string): string {
  if (line.length !== original.length || line === original) return line;
  return line.replace(/ +/g, (gap, at: number) => {
    const isType = original.slice(at, at + gap.length) !== gap;
    if (!isType) return gap;
    const next = line[at + gap.length] ?? '';
    return '),;]'.includes(next) ? '' : ' ';
  });
}

/** Replaces `./x.ts` by `./x.js`, in imports and exports of JavaScript and of declarations. */
export function withJavaScriptImports(code: string): string {
  return code.replace(
    /(\bfrom\s*|\bimport\s*\(?\s*)(['"])(\.[^'"\n]*)\.ts\2/g,
    (_match, statement, quote, file) => `${statement}${quote}${file}.js${quote}`,
  );
}
