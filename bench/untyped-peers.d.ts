// Declarations for peers without types, limited to what the contestants use.

declare module 'koa' {
  import type { RequestListener } from 'node:http';

  interface Context {
    body: unknown;
    status: number;
    state: { count?: number };
    params: Record<string, string>;
    request: { body?: unknown };
  }

  type Middleware = (ctx: Context, next: () => Promise<void>) => unknown;

  export default class Koa {
    use(middleware: Middleware): this;
    callback(): RequestListener;
    listen(port: number, host: string): unknown;
  }
}

declare module '@koa/router' {
  import type { Middleware } from 'koa';

  export default class Router {
    get(path: string, handler: Middleware): this;
    post(path: string, handler: Middleware): this;
    routes(): Middleware;
  }
}

declare module '@koa/bodyparser' {
  import type { Middleware } from 'koa';

  export function bodyParser(): Middleware;
}

declare module 'express' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

  interface Request extends IncomingMessage {
    params: Record<string, string>;
    body?: unknown;
    cookies: Record<string, string>;
  }

  interface Response extends ServerResponse {
    locals: { count?: number };
    status(code: number): this;
    json(value: unknown): this;
    cookie(name: string, value: string, options: { readonly signed: boolean }): this;
  }

  type Next = (error?: unknown) => void;
  type RequestHandler = (req: Request, res: Response, next: Next) => void;

  export interface Express extends RequestListener {
    use(middleware: RequestHandler): this;
    get(path: string, handler: (req: Request, res: Response) => void): this;
    post(path: string, handler: (req: Request, res: Response) => void): this;
    disable(setting: string): this;
    enable(setting: string): this;
    listen(port: number, host: string): unknown;
  }

  /** The parser of the body-parser package. */
  export function json(): (req: IncomingMessage, res: ServerResponse, next: Next) => void;

  function urlencoded(options: { readonly extended: false }): RequestHandler;

  /** The middleware of the serve-static package. */
  function serveStatic(root: string): RequestHandler;

  function express(): Express;
  namespace express {
    export { json, serveStatic as static, urlencoded };
  }
  export default express;
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
    listen(port: number, host: string): unknown;
  }

  export default function polka(): Polka;
}
