import { type Json, readList, readRecord, resolve } from './json.ts';
import {
  compareParameters,
  type Parameters,
  readParameters,
  schemaOf,
} from './parameter-changes.ts';
import { compareSchemas, type Pair } from './schema-changes.ts';
import { compareSecurity } from './security-changes.ts';

/** An operation at the path of its template. */
export interface Endpoint {
  readonly path: string;
  readonly operation: Json;
}

/** One line for each change of an operation that can break a client. */
export function compareOperations(
  { before, after }: Pair<Endpoint>,
  documents: Pair<Json>,
): string[] {
  const operations = { before: before.operation, after: after.operation };
  return [
    ...compareSecurity(operations, documents),
    ...compareParameters(
      {
        before: parametersOf(before, documents.before),
        after: parametersOf(after, documents.after),
      },
      documents,
    ),
    ...compareBodies(operations, documents),
    ...compareResponses(operations, documents),
  ];
}

function parametersOf({ path, operation }: Endpoint, document: Json): Parameters {
  const parameters = readList(operation.parameters).map((each) => resolve(document, each));
  return readParameters({ path, parameters });
}

function compareBodies(operations: Pair<Json>, documents: Pair<Json>): string[] {
  const before = resolve(documents.before, operations.before.requestBody);
  const after = resolve(documents.after, operations.after.requestBody);
  const isNew = operations.before.requestBody === undefined;
  const required = `request body: ${isNew ? 'is new and' : 'becomes'} required`;
  return [
    ...(after.required === true && before.required !== true ? [required] : []),
    ...compareContents({ before, after }, documents, {
      direction: 'request',
      where: 'request body',
    }),
  ];
}

interface Message {
  readonly direction: 'request' | 'response';
  readonly where: string;
}

function compareContents(
  messages: Pair<Json>,
  documents: Pair<Json>,
  { direction, where }: Message,
): string[] {
  const after = readRecord(messages.after.content);
  return Object.entries(readRecord(messages.before.content)).flatMap(([type, media]) => {
    const place = `${where} ${type}`;
    if (after[type] === undefined) return [`${place}: is removed`];
    return compareSchemas(
      { before: schemaOf(readRecord(media)), after: schemaOf(readRecord(after[type])) },
      { documents, direction, where: place },
    );
  });
}

function compareResponses(operations: Pair<Json>, documents: Pair<Json>): string[] {
  const after = Object.entries(readRecord(operations.after.responses));
  return Object.entries(readRecord(operations.before.responses)).flatMap(([status, response]) => {
    const matching = after.filter(([other]) => includesStatus(status, other));
    if (matching.length === 0) return [`response ${status}: is removed`];
    return matching.flatMap(([other, given]) => {
      const pair = {
        before: resolve(documents.before, response),
        after: resolve(documents.after, given),
      };
      const where = `response ${other}`;
      return [
        ...compareContents(pair, documents, { direction: 'response', where }),
        ...compareHeaders(pair, documents, where),
      ];
    });
  });
}

/** Whether `status` is `other`, or a range such as `2XX` that contains it. */
function includesStatus(status: string, other: string): boolean {
  return status === other || (status.endsWith('XX') && status[0] === other[0]);
}

function compareHeaders(responses: Pair<Json>, documents: Pair<Json>, where: string): string[] {
  const after = new Map(
    Object.entries(readRecord(responses.after.headers)).map(([name, header]) => [
      name.toLowerCase(),
      resolve(documents.after, header),
    ]),
  );
  return Object.entries(readRecord(responses.before.headers)).flatMap(([name, header]) => {
    const place = `${where} header ${name}`;
    const old = resolve(documents.before, header);
    const given = after.get(name.toLowerCase());
    if (!given) return [`${place}: is removed`];
    return [
      ...(old.required === true && given.required !== true ? [`${place}: can be absent`] : []),
      ...compareSchemas(
        { before: schemaOf(old), after: schemaOf(given) },
        { documents, direction: 'response', where: place },
      ),
    ];
  });
}
