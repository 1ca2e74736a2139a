import type { Context, Middleware, Next, Parts } from '../context.ts';

import type { ParamsOf } from './pattern.ts';

/** No validated part of a request. */
export type NoParts = Record<never, never>;

/** `Before` with its parts replaced by those of `After`. */
export type Replace<Before extends Parts, After extends Parts> = Omit<Before, keyof After> & After;

/** The parts of a request in a route: the parameters of its path, and the output of validators. */
export type RouteParts<Path extends string, Validated extends Parts> = NoInfer<
  Replace<{ params: ParamsOf<Path> }, Validated>
>;

export type Handler<Path extends string, Validated extends Parts = NoParts> = Middleware<
  RouteParts<Path, Validated>
>;

/** A middleware that replaces `ctx.params`, `ctx.query` or `ctx.body`. */
export interface Validator<After extends Parts, Before extends Parts = Parts> {
  (ctx: Context<Before>, next: Next): unknown;
  /** The types that these have for the functions after it; exists only for the compiler. */
  readonly '~validated'?: (parts: After) => void;
}

/** A middleware of a route. A union, because no plain function is a subtype of a `Validator`. */
export type RouteLayer<Before extends Parts, After extends Parts> =
  | Middleware<Before>
  | Validator<After, Before>;

type PartsOf<Layer> = '~validated' extends keyof Layer
  ? Layer extends Validator<infer After>
    ? After
    : NoParts
  : NoParts;

/** The output of the validators of a list; of each part, the last one. */
export type ValidatedBy<List extends readonly unknown[], V extends Parts> = List extends readonly [
  infer First,
  ...infer Rest,
]
  ? ValidatedBy<Rest, Replace<V, PartsOf<First>>>
  : V;

/**
 * Registers one method: all functions but the last are middleware, the last is the handler. What the
 * handler returns, or resolves to, is sent: a string as text, bytes, Blobs and streams as they are,
 * anything else as JSON; `undefined` is 204 unless the handler has sent a response itself. Each
 * function has the types that the validators before it set. With more than four middleware, only the
 * handler has them, from one validator.
 */
export interface Register<
  Start extends readonly string[],
  Prefix extends string,
  V extends Parts,
  Self,
> {
  <const Path extends string>(
    ...args: [...Start, path: Path, handler: Handler<`${Prefix}${Path}`, V>]
  ): Self;
  <const Path extends string, A extends Parts = NoParts>(
    ...args: [
      ...Start,
      path: Path,
      a: RouteLayer<RouteParts<`${Prefix}${Path}`, V>, A>,
      handler: Handler<`${Prefix}${Path}`, Replace<V, A>>,
    ]
  ): Self;
  <const Path extends string, A extends Parts = NoParts, B extends Parts = NoParts>(
    ...args: [
      ...Start,
      path: Path,
      a: RouteLayer<RouteParts<`${Prefix}${Path}`, V>, A>,
      b: RouteLayer<RouteParts<`${Prefix}${Path}`, Replace<V, A>>, B>,
      handler: Handler<`${Prefix}${Path}`, Replace<Replace<V, A>, B>>,
    ]
  ): Self;
  <
    const Path extends string,
    A extends Parts = NoParts,
    B extends Parts = NoParts,
    C extends Parts = NoParts,
  >(
    ...args: [
      ...Start,
      path: Path,
      a: RouteLayer<RouteParts<`${Prefix}${Path}`, V>, A>,
      b: RouteLayer<RouteParts<`${Prefix}${Path}`, Replace<V, A>>, B>,
      c: RouteLayer<RouteParts<`${Prefix}${Path}`, Replace<Replace<V, A>, B>>, C>,
      handler: Handler<`${Prefix}${Path}`, Replace<Replace<Replace<V, A>, B>, C>>,
    ]
  ): Self;
  <
    const Path extends string,
    A extends Parts = NoParts,
    B extends Parts = NoParts,
    C extends Parts = NoParts,
    D extends Parts = NoParts,
  >(
    ...args: [
      ...Start,
      path: Path,
      a: RouteLayer<RouteParts<`${Prefix}${Path}`, V>, A>,
      b: RouteLayer<RouteParts<`${Prefix}${Path}`, Replace<V, A>>, B>,
      c: RouteLayer<RouteParts<`${Prefix}${Path}`, Replace<Replace<V, A>, B>>, C>,
      d: RouteLayer<RouteParts<`${Prefix}${Path}`, Replace<Replace<Replace<V, A>, B>, C>>, D>,
      handler: Handler<`${Prefix}${Path}`, Replace<Replace<Replace<Replace<V, A>, B>, C>, D>>,
    ]
  ): Self;
  <const Path extends string, A extends Parts = NoParts>(
    ...args: [
      ...Start,
      path: Path,
      ...layers: RouteLayer<RouteParts<`${Prefix}${Path}`, V>, A>[],
      handler: Handler<`${Prefix}${Path}`, Replace<V, A>>,
    ]
  ): Self;
  <const Path extends string>(
    ...args: [...Start, path: Path, ...handlers: Handler<`${Prefix}${Path}`, V>[]]
  ): Self;
}
