import type { Context } from '../context.ts';
import { show } from '../options.ts';
import type { ErrorMembers, RequestContext, ResponseViolation } from '../request-context.ts';
import { requireJsonSchema } from '../schema/json-schema.ts';
import { createSerializer, type Serializer, type Violation } from '../schema/serializer.ts';
import { shapesOf } from '../schema/shapes.ts';
import { isProduction } from '../warnings.ts';
import { HttpError } from './http-error.ts';
import { problemOf } from './problem.ts';

/**
 * Creates the contract of responses; `undefined` if no successful response has a schema.
 *
 * @throws {TypeError} with the status, if a schema has no JSON Schema form
 */
export function createContract(schemas: Readonly<Record<string, unknown>>): Contract | undefined {
  const declared = Object.entries(schemas).filter(([, schema]) => schema !== undefined);
  if (!declared.some(([status]) => status.startsWith('2'))) return undefined;
  const compiled = declared.map(([status, schema]) => [
    Number(status),
    compile(`response ${status}`, schema).serialize,
  ]);
  const statuses = new Set(Object.keys(schemas).map(Number));
  return new Contract(new Map(compiled as [number, Serializer][]), statuses);
}

/**
 * A schema as JSON Schema, and its serializer.
 *
 * @throws {TypeError} with `name`, if the schema has no JSON Schema form
 */
function compile(name: string, schema: unknown) {
  try {
    const converted = requireJsonSchema(schema, 'output');
    return { converted, serialize: createSerializer(converted) };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TypeError(`the schema of ${name} cannot be checked: ${reason}`, { cause });
  }
}

const UNDECLARED: Violation = {
  pointer: '',
  problem:
    'has no declared schema; declare the status in endpoint({ responses }), or throw an error',
};

const EMPTY: Violation = {
  pointer: '',
  problem: 'is missing: the handler sent and returned nothing; return the declared response',
};

/** The JSON responses of a route. */
export class Contract {
  readonly #serializers: ReadonlyMap<number, Serializer>;
  /** With and without a schema. */
  readonly #statuses: ReadonlySet<number>;
  readonly #logged = new Set<number | string>();

  constructor(serializers: ReadonlyMap<number, Serializer>, statuses: ReadonlySet<number>) {
    this.#serializers = serializers;
    this.#statuses = statuses;
  }

  /**
   * The JSON of the declared fields of `value`. A violation is an error, but in production
   * (`NODE_ENV`) it is recorded, and logged once per status.
   *
   * @throws {TypeError} outside production, if `value` does not fit the declared response
   */
  serialize(ctx: RequestContext, value: unknown): string | undefined {
    const serializer = this.#serializers.get(ctx.status);
    if (serializer) {
      return serializer(value, (violation) =>
        report(ctx, { ...violation, status: ctx.status }, { logged: this.#logged }),
      );
    }
    report(ctx, { ...UNDECLARED, status: ctx.status }, { logged: this.#logged });
    return '{}'; // no field is declared
  }

  /**
   * Checks the response of a handler that sent nothing: a status without a body must be declared.
   *
   * @throws {TypeError} outside production, if it is not
   */
  checkEmpty(ctx: RequestContext): void {
    const status = ctx.assignedStatus || 204;
    const isDeclared = this.#statuses.has(status) && !this.#serializers.has(status);
    if (isDeclared || status >= 300) return; // errors have a body of the framework
    report(ctx, { ...EMPTY, status }, { logged: this.#logged });
  }
}

/**
 * For JSON that is streamed: compiles the schema of a part, such as the items of a list, to a function
 * that returns the JSON of its declared fields. A violation is handled as in other responses; it names the
 * part, such as `Event "tick"`. Default: the response.
 *
 * @throws {TypeError} if the schema has no JSON Schema form
 */
export function createPartSerializer(
  schema: unknown,
  name?: string,
): (ctx: Context, part: unknown) => string {
  const { serialize } = compile(name ?? 'response 200', schema);
  const logged = new Set<number | string>();
  return (ctx, part) => {
    const text = serialize(part, (violation) =>
      report(ctx as RequestContext, { ...violation, status: ctx.status }, { logged, part: name }),
    );
    return text ?? 'null';
  };
}

/** Members that a schema cannot declare, because problems have them already. */
const RESERVED = [
  ...['type', 'title', 'status', 'detail', 'instance'], // RFC 9457 §3.1
  ...['code', 'requestId', 'errors'],
];

/** The status of a code, and the JSON of its members; without a schema, it has none. */
interface CheckedError {
  readonly status: number;
  readonly serialize: Serializer | undefined;
}

/** The errors that a route declares. */
export class ErrorContract {
  readonly #errors = new Map<string, CheckedError>();
  readonly #logged = new Set<string>();

  /**
   * `codes` has the schema of the members of each code, by status.
   *
   * @throws {TypeError} with the code, if it has two statuses, or its schema has no JSON Schema form, is not
   *   that of one object, or has a reserved member
   */
  constructor(codes: ReadonlyMap<number, ReadonlyMap<string, unknown>>) {
    for (const [status, ofStatus] of codes) {
      for (const [code, schema] of ofStatus) {
        const other = this.#errors.get(code);
        if (other)
          throw new TypeError(`error ${code} has two statuses, ${other.status} and ${status}`);
        const serialize = schema ? compileMembers(`error ${status} ${code}`, schema) : undefined;
        this.#errors.set(code, { status, serialize });
      }
    }
  }

  /**
   * The error `code` with the declared members, and the detail; `undefined` if the code is not declared.
   *
   * @throws {TypeError} outside production, if the members do not fit
   */
  read(ctx: RequestContext, code: string, { detail, ...members }: ErrorMembers) {
    const declared = this.#errors.get(code);
    if (declared === undefined) return undefined;
    const selected = this.#select(ctx, declared, members);
    return { status: declared.status, code, detail, ...(selected && { members: selected }) };
  }

  /**
   * Checks the error that a handler throws, and removes undeclared members. An undeclared code is recorded,
   * and in production logged once.
   *
   * @throws {TypeError} outside production, if the code is not declared or the members do not fit
   */
  check(ctx: RequestContext, error: unknown): void {
    const { status, code } = problemOf(error);
    const declared = this.#errors.get(code);
    if (declared?.status === status) {
      if (!(error instanceof HttpError)) return;
      const members = this.#select(ctx, declared, error.members ?? {});
      if (error.members) Object.assign(error, { members });
      return;
    }
    const problem = `is "${show(code)}", which the route does not declare; add it to endpoint({ errors: { ${status}: … } })`;
    const violation = { status, code, pointer: '/code', problem };
    report(ctx, violation, { logged: this.#logged, cause: error });
  }

  /** The declared ones of `members`. */
  #select(
    ctx: RequestContext,
    { status, serialize }: CheckedError,
    members: ErrorMembers,
  ): ErrorMembers | undefined {
    const text = serialize?.(members, (violation) =>
      report(ctx, { ...violation, status }, { logged: this.#logged }),
    );
    return text === undefined ? undefined : JSON.parse(text);
  }
}

function compileMembers(name: string, schema: unknown): Serializer {
  const { converted, serialize } = compile(name, schema);
  const [shape, ...others] = shapesOf(converted, converted);
  if (shape?.kind !== 'object' || others.length > 0) {
    throw new TypeError(`the schema of ${name} must be that of one object`);
  }
  const reserved = RESERVED.find((member) => shape.properties.has(member));
  if (reserved === undefined) return serialize;
  throw new TypeError(
    `the schema of ${name} has the member "${reserved}", which problems have already`,
  );
}

/** What `report` logs of a violation. */
interface ReportOptions {
  /** The statuses and codes whose violation was logged. */
  readonly logged: Set<number | string>;
  /** The error that is the violation. */
  readonly cause?: unknown;
  /** What breaks the contract. Default: the response with its status. */
  readonly part?: string | undefined;
}

/** Codes can come from data: the memory for those that were logged is bounded. */
const MAX_LOGGED = 100;

/** @throws {TypeError} outside production */
function report(
  ctx: RequestContext,
  violation: ResponseViolation,
  { logged, cause, part = `Response ${violation.status}` }: ReportOptions,
): void {
  const { method, path, route } = ctx;
  const { status, code, pointer, problem } = violation;
  ctx.violation ??= violation;
  const what = pointer === '' ? 'its JSON' : `"${pointer}"`;
  const message = `${part} of ${method} ${route?.path ?? path} breaks its contract: ${what} ${problem}`;
  if (!isProduction()) throw new TypeError(message, cause === undefined ? {} : { cause });
  const key = code ?? status;
  if (logged.has(key) || logged.size >= MAX_LOGGED) return;
  logged.add(key);
  ctx.log.warn(`${message}; further violations are only counted`);
}
