// Declarations for peers without types, limited to what the contestants use.

declare module 'koa' {
  import type { IncomingMessage, RequestListener } from 'node:http';

  interface Context {
    readonly req: IncomingMessage;
    body: unknown;
    status: number;
    type: string;
    state: { count?: number };
    params: Record<string, string>;
    request: { body?: unknown };
  }

  type Middleware = (ctx: Context, next: () => Promise<void>) => unknown;

  export default class Koa {
    silent: boolean;
    use(middleware: Middleware): this;
    callback(): RequestListener;
  }
}

declare module '@koa/router' {
  import type { Middleware } from 'koa';

  export default class Router {
    get(path: string, ...middleware: readonly Middleware[]): this;
    post(path: string, handler: Middleware): this;
    routes(): Middleware;
  }
}

declare module '@koa/bodyparser' {
  import type { Middleware } from 'koa';

  export function bodyParser(): Middleware;
}

declare module 'koa-static' {
  import type { Middleware } from 'koa';

  export default function serveStatic(root: string): Middleware;
}

declare module 'cookie-parser' {
  import type { RequestHandler } from 'express';

  export default function cookieParser(secret: string): RequestHandler;
}

declare module 'polka' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

  interface Request extends IncomingMessage {
    params: Record<string, string>;
    body?: unknown;
    count?: number;
  }

  type Next = (error?: unknown) => void;

  export interface Polka {
    use(middleware: (req: Request, res: ServerResponse, next: Next) => void): this;
    get(path: string, handler: (req: Request, res: ServerResponse) => void): this;
    post(path: string, handler: (req: Request, res: ServerResponse) => void): this;
    readonly handler: RequestListener;
  }

  export default function polka(): Polka;
}

/** Its package only declares types for the plugin. */
declare module '@fastify/rate-limit/store/LocalStore.js' {
  export default class LocalStore {
    constructor(continueExceeding: boolean, exponentialBackoff: boolean, cache: number);
    incr(key: string, done: () => void, windowMs: number, max: number): void;
  }
}
