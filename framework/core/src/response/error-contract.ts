import { show } from '../options.ts';
import type { RequestContext } from '../request-context.ts';
import type { Serializer } from '../schema/serializer.ts';
import { compile, report } from './contract.ts';
import { problemOf } from './problem.ts';

/** The members of an error as `ctx.fail` takes them. */
export type ErrorMembers = Readonly<Record<string, unknown>> & { readonly detail?: string };

/** Members that a schema cannot declare, because problems have them already. */
const RESERVED = [
  ...['type', 'title', 'status', 'detail', 'instance'], // RFC 9457 §3.1
  ...['code', 'requestId', 'errors'],
];

/** The errors that a route declares. */
export class ErrorContract {
  readonly #codes: ReadonlyMap<number, ReadonlyMap<string, unknown>>;
  readonly #serializers = new Map<string, Serializer>();
  readonly #logged = new Set<string>();

  /**
   * `codes` has the schema of the members of each code, by status.
   *
   * @throws {TypeError} with the code, if a schema has no JSON Schema form or a reserved member
   */
  constructor(codes: ReadonlyMap<number, ReadonlyMap<string, unknown>>) {
    this.#codes = codes;
    for (const [status, ofStatus] of codes) {
      for (const [code, schema] of ofStatus) {
        if (schema) this.#serializers.set(code, compileMembers(`${status} ${code}`, schema));
      }
    }
  }

  /**
   * The error `code` with the declared members, and the detail.
   *
   * @throws {TypeError} if the code is not declared; outside production also if the members do not fit
   */
  read(ctx: RequestContext, code: string, { detail, ...members }: ErrorMembers) {
    const status = [...this.#codes.keys()].find((each) => this.#codes.get(each)?.has(code));
    if (status === undefined) {
      const route = `${ctx.method} ${ctx.route?.path ?? ctx.path}`;
      throw new TypeError(
        `${route} cannot fail with "${show(code)}": endpoint() does not declare it`,
      );
    }
    const serialize = this.#serializers.get(code);
    const text = serialize?.(members, (violation) =>
      report(ctx, { ...violation, status }, { logged: this.#logged }),
    );
    return { status, code, detail, ...(text && { members: JSON.parse(text) }) };
  }

  /**
   * Checks the error that a handler throws. An undeclared code is recorded, and in production logged once.
   *
   * @throws {TypeError} outside production, if the code is not declared
   */
  check(ctx: RequestContext, error: unknown): void {
    const { status, code } = problemOf(error);
    if (this.#codes.get(status)?.has(code)) return;
    const problem = `is "${show(code)}", which the route does not declare; add it to endpoint({ errors: { ${status}: … } })`;
    const violation = { status, code, pointer: '/code', problem };
    report(ctx, violation, { logged: this.#logged, cause: error });
  }
}

/** For requests without a route that declares errors. */
export const NO_ERRORS = new ErrorContract(new Map());

function compileMembers(name: string, schema: unknown): Serializer {
  const { properties, serialize } = compile(`error ${name}`, schema);
  const reserved = RESERVED.find((member) => Object.hasOwn(Object(properties), member));
  if (reserved === undefined) return serialize;
  throw new TypeError(
    `the schema of error ${name} has the member "${reserved}", which problems have already`,
  );
}
