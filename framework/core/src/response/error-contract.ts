import { show } from '../options.ts';
import type { ErrorMembers, RequestContext } from '../request-context.ts';
import type { Serializer } from '../schema/serializer.ts';
import { shapesOf } from '../schema/shapes.ts';
import { compile, report } from './contract.ts';
import { HttpError } from './http-error.ts';
import { problemOf } from './problem.ts';

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
