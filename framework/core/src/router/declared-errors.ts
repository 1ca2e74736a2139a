import { anObject, badOption } from '../options.ts';
import { codeOf } from '../response/status.ts';
import { isStandardSchema } from '../schema/standard-schema.ts';
import type { CodesByStatus, DeclaredCodes } from './response-types.ts';

/** An error that a route or its middleware sends. */
export interface DeclaredError {
  readonly status: number;
  readonly code: string;
  /** The schema of the extension members. */
  readonly members?: unknown;
}

/**
 * Reads the option `errors` of `endpoint()`.
 *
 * @throws {TypeError} if a status, a code or a schema is invalid
 */
export function readErrors(declared: CodesByStatus): DeclaredError[] {
  return Object.entries(declared).flatMap(([key, codes]) => {
    const status = Number(key);
    if (!/^[45]\d\d$/.test(key)) throw badErrors('', key, 'a status from 400 to 599');
    return entriesOf(codes).map(([code, members]) => readError(status, code, members));
  });
}

function entriesOf(codes: DeclaredCodes): (readonly [code: string, members: unknown])[] {
  if (anObject.accepts(codes)) return Object.entries(codes);
  return [codes].flat().map((code) => [String(code), true]);
}

function readError(status: number, code: string, members: unknown): DeclaredError {
  if (!/^[A-Z][A-Z\d_]*$/.test(code)) {
    throw badErrors(`.${status}`, code, 'upper-case codes, such as "EMAIL_TAKEN"');
  }
  if (members === true) return { status, code };
  const name = `.${status}.${code}`;
  if (!isStandardSchema(members) && !anObject.accepts(members)) {
    throw badErrors(name, members, 'true, or a schema of the extension members');
  }
  if (status >= 500) throw badErrors(name, members, 'true: a 5xx has no extension members');
  return { status, code, members };
}

function badErrors(path: string, value: unknown, expected: string): TypeError {
  return badOption('endpoint()', { name: `errors${path}`, value, expected });
}

/** The accepted security schemes, each with its scopes; one of the entries suffices. */
export type SecurityRequirements = readonly Readonly<Record<string, readonly string[]>>[];

/** The metadata of a route from which its errors follow. */
export interface ErrorMetadata {
  /** Whether the errors of the handler are checked. */
  readonly hasErrorContract?: boolean;
  readonly errors?: readonly DeclaredError[];
  readonly endpoint?: {
    readonly bodyTypes?: readonly string[];
    readonly responses?: Readonly<Record<number, unknown>>;
    readonly security?: SecurityRequirements | undefined;
  };
  readonly responses?: object;
  readonly validation?: { readonly body?: unknown; readonly status?: 400 | 422 } | undefined;
  readonly body?: { readonly errors?: readonly DeclaredError[] } | undefined;
  readonly rateLimit?: readonly unknown[];
  readonly security?: SecurityRequirements | undefined;
}

/** Methods whose bodies are part of a contract. */
const METHODS_WITH_BODY = ['POST', 'PUT', 'PATCH', 'QUERY'];

/** Whether a route with this metadata reads a body. */
export function readsBody(method: string, { validation, body, endpoint }: ErrorMetadata): boolean {
  const isDeclared = body !== undefined || endpoint?.bodyTypes !== undefined;
  return validation?.body !== undefined || (isDeclared && METHODS_WITH_BODY.includes(method));
}

/**
 * The codes of each error status of a route, with the schemas of their members: those that `endpoint()` and
 * the middleware declare, and those that the framework sends for a route with this metadata. A status without
 * declared codes has the default one.
 */
export function errorCodes(
  { method, hasParams }: { readonly method: string; readonly hasParams: boolean },
  metadata: ErrorMetadata,
): ReadonlyMap<number, ReadonlyMap<string, unknown>> {
  const { endpoint = {}, validation, rateLimit = [], responses, errors = [], body } = metadata;
  const hasBody = readsBody(method, metadata);
  const security = endpoint.security ?? metadata.security;
  const declared = [...errors, ...((hasBody && body?.errors) || [])];
  const own = new Set(declared.map(({ status }) => status));
  const described = Object.keys({ ...endpoint.responses, ...responses }).map(Number);
  const expected = [
    ...described.filter((status) => status >= 400),
    ...(validation ? [validation.status ?? 400] : []),
    ...(hasParams ? [404] : []),
  ];
  const defaults = [
    ...[405, 500],
    ...(hasParams ? [400] : []),
    ...(hasBody ? [400, 413, 415] : []),
    ...(security?.some((schemes) => Object.keys(schemes).length > 0) ? [401] : []),
    ...(rateLimit.length > 0 ? [429] : []),
    ...expected.filter((status) => !own.has(status)),
    ...[...expected, ...own].filter(isOfServer),
  ];
  const codes = new Map<number, Map<string, unknown>>();
  const all = [...defaults.map((status) => ({ status, code: codeOf(status) })), ...declared];
  for (const { status, code, members } of all as DeclaredError[]) {
    const ofStatus = codes.get(status) ?? new Map<string, unknown>();
    codes.set(status, ofStatus.set(code, members));
  }
  return codes;
}

/** Whether the server may send `status` for a request to any route. */
function isOfServer(status: number): boolean {
  return status === 400 || status >= 500;
}
