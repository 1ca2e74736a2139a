import { type Chain, composeBefore, hasRun, isThenable } from '../compose.ts';
import type { Middleware } from '../context.ts';
import { markRoutes, runUnder } from '../middleware.ts';
import { mayServe } from '../request/dispatch.ts';
import { recordOf } from '../request-context.ts';
import type { Contract, ErrorContract } from '../response/contract.ts';
import { NotFoundError } from '../response/http-error.ts';
import { contractOf, createLayerTest, errorContractOf, type Route } from './registration.ts';
import type { TableMatch } from './route-table.ts';

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
