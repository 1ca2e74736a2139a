import type { AnyVariables } from './config.ts';
import { describeVariables, type VariableDescription } from './describe-variables.ts';

/** The width of the table: a common terminal, with room to spare. */
const COLUMNS = 100;

/** Every variable with its default, unit and meaning: a table for eyes, or JSON for programs. */
export function printVariables(
  variables: AnyVariables,
  { isJson = false }: { readonly isJson?: boolean } = {},
): string {
  const descriptions = describeVariables(variables);
  if (isJson) return `${JSON.stringify(descriptions, null, 2)}\n`;
  const rows = [['VARIABLE', 'DEFAULT', 'MEANING'], ...descriptions.map(cellsOf)];
  const [first = 0, second = 0] = [0, 1].map((column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const indent = ' '.repeat(first + second + 4);
  return rows
    .map(([name = '', value = '', meaning = '']) => {
      const [line = '', ...more] = wrap(meaning, COLUMNS - indent.length);
      const head = `${name.padEnd(first)}  ${value.padEnd(second)}  ${line}`.trimEnd();
      return [head, ...more.map((rest) => indent + rest)].join('\n');
    })
    .join('\n')
    .concat('\n');
}

/** Name, default with its unit, and meaning. */
export function cellsOf(description: VariableDescription): [string, string, string] {
  const { name, unit, secret, meaning } = description;
  const value = [description.default ?? 'none', unit].filter(Boolean).join(' ');
  return [name, value, secret ? `${meaning} (secret; or ${name}_FILE)` : meaning];
}

/** `text` in lines of at most `columns`, broken between words. */
function wrap(text: string, columns: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line === '') lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= columns) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}
