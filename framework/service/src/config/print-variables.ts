import type { AnyVariables } from './config.ts';
import { describeVariables, type VariableDescription } from './describe-variables.ts';
import { printTable } from './print-table.ts';

/** Every variable with its default, unit and meaning: a table for eyes, or JSON for programs. */
export function printVariables(
  variables: AnyVariables,
  { isJson = false }: { readonly isJson?: boolean } = {},
): string {
  const descriptions = describeVariables(variables);
  if (isJson) return `${JSON.stringify(descriptions, null, 2)}\n`;
  return printTable([['VARIABLE', 'DEFAULT', 'MEANING'], ...descriptions.map(cellsOf)]);
}

/** Name, default with its unit, and meaning. */
export function cellsOf(description: VariableDescription): [string, string, string] {
  const { name, unit, secret, meaning } = description;
  const value = [description.default ?? 'none', unit].filter(Boolean).join(' ');
  return [name, value, secret ? `${meaning} (secret; or ${name}_FILE)` : meaning];
}
