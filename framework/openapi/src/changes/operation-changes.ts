import { type Json, mapPair, type Pair, readRecord, resolveBoth } from './json.ts';
import { compareProblems, compareSchemas, type SchemaComparison } from './schema-changes.ts';
import { compareSecurity } from './security-changes.ts';

/** An operation with the parameters of its path. */
export interface Operation {
  readonly fields: Json;
  /** By place and name; names of headers ignore case, path parameters count by position. */
  readonly parameters: ReadonlyMap<string, Json>;
}

/** One line for each change of an operation that can break a client. */
export function compareOperations(operations: Pair<Operation>, documents: Pair<Json>): string[] {
  const fields = mapPair(operations, (operation) => operation.fields);
  return [
    ...compareSecurity(fields, documents),
    ...compareParameters(operations, documents),
    ...compareBodies(fields, documents),
    ...compareResponses(fields, documents),
  ];
}

function compareParameters({ before, after }: Pair<Operation>, documents: Pair<Json>): string[] {
  const added = [...after.parameters].filter(
    ([key, { required }]) => required === true && !before.parameters.has(key),
  );
  return [
    ...added.map(([, parameter]) => `${nameOf(parameter)}: is new and required`),
    ...[...before.parameters].flatMap(([key, old]) => {
      const given = after.parameters.get(key);
      const where = nameOf(old);
      if (!given) return [`${where}: is removed`];
      const pair = { before: old, after: given };
      return [
        ...compareStyles(pair, where),
        ...compareValues(pair, { documents, direction: 'request', where }),
      ];
    }),
  ];
}

function nameOf({ in: place, name }: Json): string {
  return place === 'header' ? `request header ${name}` : `${place} parameter ${name}`;
}

function compareStyles(parameters: Pair<Json>, where: string): string[] {
  const { before, after } = mapPair(parameters, styleOf);
  return before === after ? [] : [`${where}: style changed from ${before} to ${after}`];
}

/** How several values are written (OpenAPI 3.1.1 §4.8.12.2.2). */
function styleOf(parameter: Json): string {
  const isForm = parameter.in === 'query' || parameter.in === 'cookie';
  const { style = isForm ? 'form' : 'simple', explode = style === 'form' } = parameter;
  return explode ? `${style} with explode` : String(style);
}

/** Compares a parameter, or a header of a response. */
function compareValues(values: Pair<Json>, comparison: SchemaComparison): string[] {
  const { direction, where } = comparison;
  const { before, after } = mapPair(values, ({ required }) => required === true);
  return [
    ...(direction === 'request' && after && !before ? [`${where}: becomes required`] : []),
    ...(direction === 'response' && before && !after ? [`${where}: can be absent`] : []),
    ...compareSchemas(mapPair(values, schemaOf), comparison),
  ];
}

/** The schema of a parameter, header or media type, or of the events of a stream. */
function schemaOf({ schema, itemSchema, content }: Json): unknown {
  const [media] = Object.values(readRecord(content));
  return schema ?? itemSchema ?? readRecord(media).schema ?? true;
}

function compareBodies(operations: Pair<Json>, documents: Pair<Json>): string[] {
  const given = mapPair(operations, ({ requestBody }) => requestBody);
  const bodies = resolveBoth(documents, given);
  const { before, after } = mapPair(bodies, ({ required }) => required === true);
  const required = `request body: ${given.before === undefined ? 'is new and' : 'becomes'} required`;
  return [
    ...(after && !before ? [required] : []),
    ...compareContents(bodies, { documents, direction: 'request', where: 'request body' }),
  ];
}

function compareContents(messages: Pair<Json>, comparison: SchemaComparison): string[] {
  const { before, after } = mapPair(messages, ({ content }) => readRecord(content));
  return Object.entries(before).flatMap(([type, media]) => {
    const where = `${comparison.where} ${type}`;
    if (after[type] === undefined) return [`${where}: is removed`];
    const schemas = mapPair({ before: media, after: after[type] }, (each) =>
      schemaOf(readRecord(each)),
    );
    const compare = type === 'application/problem+json' ? compareProblems : compareSchemas;
    return compare(schemas, { ...comparison, where });
  });
}

function compareResponses(operations: Pair<Json>, documents: Pair<Json>): string[] {
  const { before, after } = mapPair(operations, ({ responses }) => readRecord(responses));
  return Object.entries(before).flatMap(([status, response]) => {
    const matching = Object.entries(after).filter(([other]) => includesStatus(status, other));
    if (matching.length === 0) return [`response ${status}: is removed`];
    return matching.flatMap(([other, given]) => {
      const pair = resolveBoth(documents, { before: response, after: given });
      const where = `response ${other}`;
      return [
        ...compareContents(pair, { documents, direction: 'response', where }),
        ...compareHeaders(pair, documents, where),
      ];
    });
  });
}

/** Whether `status` is `other`, or a range such as `2XX` that contains it. */
function includesStatus(status: string, other: string): boolean {
  return status === other || (status.endsWith('XX') && status[0] === other[0]);
}

function compareHeaders(responses: Pair<Json>, documents: Pair<Json>, response: string): string[] {
  const { before, after } = mapPair(responses, ({ headers }) =>
    Object.entries(readRecord(headers)),
  );
  return before.flatMap(([name, header]) => {
    const where = `${response} header ${name}`;
    const given = after.find(([other]) => other.toLowerCase() === name.toLowerCase());
    if (!given) return [`${where}: is removed`];
    const pair = resolveBoth(documents, { before: header, after: given[1] });
    return compareValues(pair, { documents, direction: 'response', where });
  });
}
