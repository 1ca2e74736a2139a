import { isRecord, type JsonSchema } from '@fw/core/schema';

import { Components, mapRefs } from '../components.ts';
import {
  describeOperation,
  type Operation,
  type Parameter,
  type ToJsonSchema,
} from '../operation.ts';
import type { DocumentedRoute } from '../select-routes.ts';

/** Where an argument of a tool is sent in the request of its operation. */
export interface Argument {
  readonly in: Parameter['in'] | 'body';
  /** The name of the parameter; of the body, its media type. */
  readonly name: string;
  readonly isWildcard: boolean;
}

/** An operation as a tool. */
export interface Tool {
  readonly route: DocumentedRoute;
  readonly arguments: ReadonlyMap<string, Argument>;
  /** Whether a successful call has `structuredContent`. */
  readonly hasOutput: boolean;
  /** The tool as `tools/list` returns it. */
  readonly description: Readonly<Record<string, unknown>>;
}

/**
 * The header parameters that are arguments. The others identify the client, or proxies set them: an
 * argument must not replace them.
 */
const HEADER_ARGUMENTS = [
  'accept-language',
  'idempotency-key',
  'if-match',
  'if-unmodified-since',
  'prefer',
];

/** Describes each route as a tool, by its name. */
export async function createTools(
  routes: readonly DocumentedRoute[],
  toJsonSchema: ToJsonSchema | undefined,
): Promise<ReadonlyMap<string, Tool>> {
  const tools = new Map<string, Tool>();
  for (const route of routes) {
    const components = new Components();
    const operation = await describeOperation(route, { components, toJsonSchema });
    tools.set(route.operationId, createTool(route, operation, components));
  }
  return tools;
}

function createTool(route: DocumentedRoute, operation: Operation, components: Components): Tool {
  const { operationId: name, summary, description, deprecated } = operation;
  const { inputSchema, args } = describeInput(operation, components);
  const outputSchema = describeOutput(operation, components);
  const notes = [deprecated ? 'Deprecated.' : undefined, summary, description];
  return {
    route,
    arguments: args,
    hasOutput: outputSchema !== undefined,
    description: {
      name,
      title: summary,
      description: notes.filter((note) => note !== undefined).join('\n\n'),
      inputSchema,
      ...(outputSchema && { outputSchema }),
      annotations: annotationsOf(route.method),
    },
  };
}

/** What the method promises (RFC 9110 §9.2, RFC 10008 §2); a POST may destroy anything. */
function annotationsOf(method: string) {
  const readOnlyHint = ['GET', 'HEAD', 'OPTIONS', 'QUERY', 'TRACE'].includes(method);
  const idempotentHint = readOnlyHint || method === 'PUT' || method === 'DELETE';
  return { readOnlyHint, destructiveHint: !readOnlyHint, idempotentHint };
}

/** One object with the parameters and the body; equal names get a number. */
function describeInput({ parameters = [], requestBody }: Operation, components: Components) {
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  const args = new Map<string, Argument>();
  const add = (argument: Argument, schema: JsonSchema, isRequired: boolean) => {
    const base = argument.in === 'body' ? 'body' : argument.name.replace(/[^\w.-]/g, '_');
    let name = base;
    for (let number = 2; args.has(name); number++) name = `${base}_${number}`;
    args.set(name, argument);
    properties[name] = schema;
    if (isRequired) required.push(name);
  };
  const [type, content] = jsonOf(requestBody?.content) ?? [];
  if (type !== undefined && content) {
    const argument = { in: 'body', name: type, isWildcard: false } as const;
    add(argument, content.schema, requestBody?.required === true);
  }
  for (const parameter of parameters) {
    const { in: place, name, schema, description } = parameter;
    if (place === 'header' && !HEADER_ARGUMENTS.includes(name.toLowerCase())) continue;
    const argument = { in: place, name, isWildcard: parameter['x-wildcard'] === true };
    const described = description === undefined ? schema : { ...schema, description };
    add(argument, described, parameter.required);
  }
  const schema = { type: 'object', properties, required, additionalProperties: false };
  return { inputSchema: withDefinitions(schema, components), args };
}

/** The JSON object of the only successful response; `undefined` if it has another form. */
function describeOutput({ responses }: Operation, components: Components): JsonSchema | undefined {
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const [, response] = successes.length === 1 ? successes[0]! : [];
  const content = response && 'content' in response ? response.content : undefined;
  const [, json] = jsonOf(content) ?? [];
  let schema = json?.schema;
  for (let depth = 0; typeof schema?.$ref === 'string' && depth < 8; depth++) {
    schema = components.resolve(schema);
  }
  return schema?.type === 'object' ? withDefinitions(schema, components) : undefined;
}

function jsonOf<Content>(content: Readonly<Record<string, Content>> = {}) {
  return Object.entries(content).find(([type]) => /[/+]json$/.test(type));
}

const SCHEMAS = '#/components/schemas/';

/** `schema` with all schemas that it refers to in its own `$defs`: a client has no other document. */
function withDefinitions(schema: JsonSchema, components: Components): JsonSchema {
  const { schemas = {} } = components.toJSON();
  const $defs: Record<string, unknown> = {};
  const move = (part: unknown): unknown =>
    mapRefs(part, (ref) => {
      const [name = ''] = ref.slice(SCHEMAS.length).split('/', 1);
      if (!Object.hasOwn($defs, name)) {
        $defs[name] = true; // it may refer to itself
        $defs[name] = move(schemas[name]);
      }
      return ref.replace(SCHEMAS, '#/$defs/');
    });
  const moved = move(schema);
  return {
    ...(isRecord(moved) ? moved : {}),
    ...(Object.keys($defs).length > 0 && { $defs }),
  };
}
