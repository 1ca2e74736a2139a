import { type Chain, composeBefore, hasRun, isThenable } from '../compose.ts';
import type { Middleware } from '../context.ts';
import { markRoutes, metadataOf, type RouteMetadata, runUnder } from '../middleware.ts';
import { mayServe } from '../request/dispatch.ts';
import { createPrefixTest } from '../request/path.ts';
import { recordOf } from '../request-context.ts';
import { type Contract, createContract, ErrorContract } from '../response/contract.ts';
import { NotFoundError } from '../response/http-error.ts';
import { type ErrorMetadata, errorCodes } from './declared-errors.ts';
import { joinPaths, namesIn } from './pattern.ts';

/** A middleware of a router, for all of its routes or only for those under `path`. */
export interface Layer {
  readonly path: string | undefined;
  readonly run: Middleware;
}

/** The layers of one router on the way to a route. */
export interface Scope {
  /** The path to which those of the layers are relative. */
  readonly base: string;
  /** The router's own list: layers added later run too. */
  readonly layers: readonly Layer[];
  readonly caseSensitive: boolean;
}

/** A route before it is added to a route table. */
export interface Registration {
  readonly method: string;
  /** The path under the router that has the registration, its prefix included. */
  readonly path: string;
  /** From the outermost router to the one that registered the route. */
  readonly scopes: readonly Scope[];
  /** Middleware of the route, then its handler. */
  readonly handlers: readonly Middleware[];
}

/** A route of a route table. */
export interface Route extends Registration {
  readonly names: readonly string[];
  /** Composed on the first request, and again after middleware was added. */
  chain: Chain | undefined;
  /** The errors that `endpoint()` declares; set with `chain`. */
  errors?: ErrorContract | undefined;
}

/** The route for a path, and its parameters. */
export interface TableMatch {
  readonly route: Route;
  readonly params: Record<string, string>;
}

/**
 * Returns middleware that finds the route of a request and runs it. Calls `next()` if there is no route, or if
 * `owns` is false for it.
 */
export function runRoutes(
  find: (method: string, path: string) => TableMatch | undefined,
  owns: (route: Route) => boolean,
): Middleware {
  return markRoutes((context, next) => {
    const ctx = recordOf(context);
    const match = find(ctx.method, ctx.path);
    if (match === undefined) {
      if (!ctx.responded) ctx.isUnmatched = true;
      return next();
    }
    const { route, params } = match;
    if (!owns(route)) return next();
    if (!mayServe(route, ctx.raw.req)) throw new NotFoundError();
    ctx.route = route;
    ctx.params = params;
    route.chain ??= composeRoute(route);
    return route.chain(ctx, next);
  });
}

/** Composes everything that runs for `route`, outermost first. */
function composeRoute(route: Route): Chain {
  const { scopes, handlers } = route;
  const layers = scopes.flatMap((scope) =>
    scope.layers.map(({ path, run }) =>
      path === undefined ? run : runUnder(createLayerTest(scope, path), run),
    ),
  );
  route.errors = errorContractOf(route);
  const last = handlers.at(-1) as Middleware;
  const handler = route.errors ? checkErrors(last, route.errors) : last;
  const contract = contractOf(route);
  return composeBefore(
    [...layers, ...handlers.slice(0, -1)],
    contract ? sendWithContract(handler, contract) : sendReturned(handler),
  );
}

/**
 * Sends the value that `handler` returns or that its promise resolves with. A string is sent as text,
 * bytes and streams unchanged, any other value as JSON; `undefined` is not a response. An error, or an
 * object without a JSON form such as a Map, causes a 500.
 */
function sendReturned(handler: Middleware): Middleware {
  return (ctx, next) => {
    const returned = handler(ctx, next);
    if (returned === undefined || hasRun(returned)) return returned;
    const record = recordOf(ctx);
    if (!isThenable(returned)) return record.sendReturned(returned);
    return returned.then((value) => record.sendReturned(value));
  };
}

/**
 * Sends the returned value like `sendReturned`. JSON that the handler sends must fit `contract`; JSON of other
 * middleware need not.
 */
function sendWithContract(handler: Middleware, contract: Contract): Middleware {
  return (ctx, next) => {
    const record = recordOf(ctx);
    const send = (value: unknown) => {
      try {
        record.sendReturned(value);
        if (!record.responded) contract.checkEmpty(record);
      } finally {
        record.contract = undefined;
      }
    };
    const fail = (error: unknown) => {
      record.contract = undefined;
      throw error;
    };
    record.contract = contract;
    let returned: unknown;
    try {
      returned = handler(ctx, next);
    } catch (error) {
      return fail(error);
    }
    if (hasRun(returned)) record.contract = undefined;
    else if (isThenable(returned)) return returned.then(send, fail);
    else send(returned);
    return returned;
  };
}

/** Runs `handler`. Outside production, an error that `errors` does not declare becomes a `TypeError`. */
function checkErrors(handler: Middleware, errors: ErrorContract): Middleware {
  return (ctx, next) => {
    const fail = (error: unknown): never => {
      errors.check(recordOf(ctx), error);
      throw error;
    };
    try {
      const returned = handler(ctx, next);
      return isThenable(returned) && !hasRun(returned) ? returned.then(undefined, fail) : returned;
    } catch (error) {
      return fail(error);
    }
  };
}

/** Returns a function that tests whether a layer of `scope` with `path` applies to a request path. */
function createLayerTest({ base, caseSensitive }: Scope, path: string) {
  return createPrefixTest(joinPaths(base, path), caseSensitive);
}

/** The declared errors of the route, if an `endpoint()` that applies to it has `errors`. */
function errorContractOf(route: Registration): ErrorContract | undefined {
  const { method, path } = route;
  const metadata = metadataOfRoute(route) as ErrorMetadata;
  if (!metadata.hasErrorContract) return undefined;
  return new ErrorContract(errorCodes({ method, hasParams: namesIn(path).length > 0 }, metadata));
}

/** The contracts by the schemas of `endpoint()`, which several routes may share. */
const contracts = new WeakMap<object, Contract>();

/** The contract of the responses that the `endpoint()` calls of the route declare. */
function contractOf(route: Registration): Contract | undefined {
  const { endpoint } = metadataOfRoute(route);
  const schemas: unknown = Reflect.get(Object(endpoint), 'responses');
  if (!isObject(schemas)) return undefined;
  const contract = contracts.get(schemas) ?? createContract(schemas as Record<string, unknown>);
  if (contract) contracts.set(schemas, contract);
  return contract;
}

/** The merged metadata of everything that runs for `route`. */
export function metadataOfRoute(route: Registration): RouteMetadata {
  return metadataOfEach(route).reduce(merge, {});
}

/** The metadata of everything that runs for each request to `route`, outermost first. */
function metadataOfEach({ path, scopes, handlers }: Registration): readonly RouteMetadata[] {
  const layers = scopes.flatMap((scope) =>
    scope.layers.filter(
      (layer) => layer.path === undefined || createLayerTest(scope, layer.path)(path),
    ),
  );
  return [...layers.map(({ run }) => run), ...handlers].map((run) => metadataOf(run) ?? {});
}

/**
 * Rejects a route that cannot serve requests.
 *
 * @throws {TypeError} if its path lacks a parameter, a response or an error has no contract, or its form does
 *   not fit its schema
 */
export function requireServable(route: Registration): void {
  requirePathParams(route);
  try {
    contractOf(route);
    errorContractOf(route);
    if (readsForms(route)) for (const { onForm } of metadataOfEach(route)) onForm?.();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TypeError(`Cannot register ${route.method} ${route.path}: ${reason}`, { cause });
  }
}

const FORM_TYPES: readonly unknown[] = ['application/x-www-form-urlencoded', 'multipart/form-data'];

/** Whether the body parser of the route reads forms and nothing else. */
function readsForms(route: Registration): boolean {
  const types: unknown = Reflect.get(Object(metadataOfRoute(route).body), 'mediaTypes');
  return Array.isArray(types) && types.every((type) => FORM_TYPES.includes(type));
}

/**
 * Rejects a route whose middleware needs a parameter that is not in the path: every request would fail.
 * Middleware after a validator of parameters is not checked, because the validator may add parameters.
 */
function requirePathParams(route: Registration): void {
  const names = namesIn(route.path);
  for (const { missingPathParam, validation } of metadataOfEach(route)) {
    const missing = missingPathParam?.(names);
    if (missing !== undefined) {
      throw new TypeError(
        `Cannot register ${route.method} ${route.path}: "${missing}" must be a parameter of the path`,
      );
    }
    if (isObject(validation) && Reflect.get(validation, 'params') !== undefined) return;
  }
}

/**
 * Keys whose objects are merged and whose lists are joined. Every `security` is required. Of any other key, the
 * last value counts.
 */
const MERGED = [
  'validation',
  'requestHeaders',
  'responses',
  'rateLimit',
  'securitySchemes',
  'errors',
];

/** The same keys of `endpoint()`: what one for a group declares applies to each of its routes. */
const MERGED_IN_ENDPOINT = ['tags', 'responses'];

function merge(before: RouteMetadata, after: RouteMetadata): RouteMetadata {
  const merged = mergeKeys(before, after, MERGED);
  if (Array.isArray(before.security) && Array.isArray(after.security)) {
    merged.security = requireBoth(before.security, after.security);
  }
  if (isObject(before.endpoint) && isObject(after.endpoint)) {
    merged.endpoint = mergeKeys({ ...before.endpoint }, { ...after.endpoint }, MERGED_IN_ENDPOINT);
  }
  return merged;
}

function mergeKeys(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  keys: readonly string[],
): Record<string, unknown> {
  const given = Object.entries(after).filter(([, value]) => value !== undefined);
  const merged: Record<string, unknown> = { ...before, ...Object.fromEntries(given) };
  for (const key of keys) {
    const [present, value] = [before[key], after[key]];
    if (Array.isArray(present) && Array.isArray(value)) {
      merged[key] = [...new Set([...present, ...value])];
    } else if (isObject(present) && isObject(value)) merged[key] = { ...present, ...value };
  }
  return merged;
}

/** The scopes by security scheme: all of them are required. */
type Requirement = Record<string, readonly string[]>;

/** The alternatives that satisfy both guards: each of the one with each of the other. An empty list requires nothing. */
function requireBoth(
  left: readonly Requirement[],
  right: readonly Requirement[],
): readonly Requirement[] {
  if (left.length === 0) return right;
  if (right.length === 0) return left;
  const pairs = left.flatMap((one) => right.map((other) => joinScopes(one, other)));
  return [...new Map(pairs.map((pair) => [JSON.stringify(pair), pair])).values()];
}

function joinScopes(one: Requirement, other: Requirement): Requirement {
  const joined = { ...one };
  for (const [scheme, scopes] of Object.entries(other)) {
    joined[scheme] = [...new Set([...(one[scheme] ?? []), ...scopes])];
  }
  return joined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
