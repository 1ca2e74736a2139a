import * as z from 'zod';

/** The variables of any configuration: the schema of each, by name. */
export type AnyVariables = Readonly<Record<string, z.ZodType>>;

/** One variable of a service, for the person or the program that sets it. */
export interface VariableDescription {
  readonly name: string;
  /** As it would be written into the environment. */
  readonly default?: string;
  readonly unit?: string;
  readonly meaning: string;
  /** Never shown; may come from the file that `<name>_FILE` names. */
  readonly secret: boolean;
}

/** Describes `variables` in their order, from the JSON Schemas of their values. */
export function describeVariables(variables: AnyVariables): VariableDescription[] {
  const { properties = {} } = z.toJSONSchema(z.object(variables), { unrepresentable: 'any' });
  return Object.entries(properties).map(([name, schema]) => {
    const { default: value, description = '', unit, secret = false } = Object(schema);
    return {
      name,
      ...(value !== undefined && { default: String(value) }),
      ...(unit && { unit }),
      meaning: description,
      secret,
    };
  });
}

/** The cells of a table row: name, default with its unit, meaning. */
export function cellsOf(description: VariableDescription): [string, string, string] {
  const { name, unit, secret, meaning } = description;
  const value = [description.default ?? 'none', unit].filter(Boolean).join(' ');
  return [name, value, secret ? `${meaning} (secret; or ${name}_FILE)` : meaning];
}

/** Writes rows as lines, each column as wide as its widest cell. */
export function formatTable(rows: readonly (readonly string[])[], indent = ''): string {
  const widthOf = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widthOf(column) + 2)));
  return lines.map((cells) => `${(indent + cells.join('')).trimEnd()}\n`).join('');
}
