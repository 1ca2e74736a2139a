import { type Json, readRecord } from './json.ts';
import { compareSchemas, type Pair } from './schema-changes.ts';

/** The parameters of an operation, by place and name. */
export type Parameters = ReadonlyMap<string, Json>;

/** One line for each change of the parameters that can break a client. */
export function compareParameters(
  { before, after }: Pair<Parameters>,
  documents: Pair<Json>,
): string[] {
  const added = [...after].filter(([key, { required }]) => required === true && !before.has(key));
  return [
    ...added.map(([, parameter]) => `${nameOf(parameter)}: is new and required`),
    ...[...before].flatMap(([key, parameter]) => {
      const other = after.get(key);
      if (!other) return [`${nameOf(parameter)}: is removed`];
      return compareParameter({ before: parameter, after: other }, documents);
    }),
  ];
}

/** Reads the parameters; names of headers ignore case, path parameters count by position. */
export function readParameters({
  path,
  parameters,
}: {
  readonly path: string;
  readonly parameters: readonly Json[];
}): Parameters {
  return new Map(
    parameters.map((parameter) => {
      const { in: place, name } = parameter;
      const key = String(name);
      if (place === 'header') return [`header ${key.toLowerCase()}`, parameter];
      if (place === 'path') return [`path ${positionOf(key, path)}`, parameter];
      return [`${place} ${key}`, parameter];
    }),
  );
}

function positionOf(name: string, path: string): number {
  return [...path.matchAll(/\{([^}]*)\}/g)].findIndex(([, each]) => each === name);
}

function nameOf(parameter: Json): string {
  const { in: place, name } = parameter;
  return place === 'header' ? `request header ${name}` : `${place} parameter ${name}`;
}

function compareParameter({ before, after }: Pair<Json>, documents: Pair<Json>): string[] {
  const where = nameOf(before);
  const styles = { before: styleOf(before), after: styleOf(after) };
  return [
    ...(after.required === true && before.required !== true ? [`${where}: becomes required`] : []),
    ...(styles.before === styles.after
      ? []
      : [`${where}: style changed from ${styles.before} to ${styles.after}`]),
    ...compareSchemas(
      { before: schemaOf(before), after: schemaOf(after) },
      { documents, direction: 'request', where },
    ),
  ];
}

/** How several values are written (OpenAPI 3.1.1 §4.8.12.2.2). */
function styleOf(parameter: Json): string {
  const isForm = parameter.in === 'query' || parameter.in === 'cookie';
  const { style = isForm ? 'form' : 'simple', explode = style === 'form' } = parameter;
  return explode ? `${style} with explode` : String(style);
}

/** The schema of a parameter, header or media type. */
export function schemaOf({ schema, content }: Json): unknown {
  const [media] = Object.values(readRecord(content));
  return schema ?? readRecord(media).schema ?? true;
}
