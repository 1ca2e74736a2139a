import { SourceMap } from 'node:module';

/** The source map of a module whose JavaScript has the lines of its source (ECMA-426). */
export function sourceMapOf(source: string, file: string): string {
  const lines = source.split('\n').length - 1;
  return writeMap(file, `AAAA${';AACA'.repeat(lines)}`);
}

/** The first name that a line declares: an editor looks up nothing else. */
const DECLARED_NAME = new RegExp(
  '(?<=^\\s*(?:(?:export|declare|default|async|abstract|readonly|static|get|set|function|const|class|interface|type) )*)' +
    '[\\w$]+(?=\\s*(?:[(<:?={;]|extends\\b|implements\\b))',
);

/** The map of `declarations` with the positions of the declared names only, which is a third as long. */
export function declarationMapOf(declarations: string, map: string): string {
  const original = JSON.parse(map);
  const positions = new SourceMap(original);
  let [lastLine, lastColumn] = [0, 0];
  const mappings = declarations.split('\n').map((text, line) => {
    const index = text.search(DECLARED_NAME);
    const entry = positions.findEntry(line, Math.max(index, 0));
    if (index < 0 || !('originalLine' in entry)) return '';
    const { originalLine, originalColumn } = entry;
    const deltas = [index, 0, originalLine - lastLine, originalColumn - lastColumn];
    [lastLine, lastColumn] = [originalLine, originalColumn];
    return deltas.map(encode).join('');
  });
  return writeMap(original.sources[0], mappings.join(';'));
}

function writeMap(source: string, mappings: string): string {
  return JSON.stringify({ version: 3, sources: [source], names: [], mappings });
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** A number in base 64, five bits per digit, with its sign in the lowest bit (ECMA-426 §6.1). */
function encode(value: number): string {
  let rest = value < 0 ? (-value << 1) | 1 : value << 1;
  let digits = '';
  do {
    const isLast = rest < 32;
    digits += DIGITS[(rest & 31) | (isLast ? 0 : 32)];
    rest >>= 5;
  } while (rest > 0);
  return digits;
}
