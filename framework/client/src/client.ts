import { type ClientResponse, runCall } from './call.ts';
import {
  type CallOptions,
  type ClientOptions,
  type HeaderFields,
  readClientOptions,
} from './client-options.ts';
import { createEtagCache } from './etag-cache.ts';
import { isProblemOf, type ProblemError } from './problem-error.ts';
import { prepareRequest, type UntypedCallOptions } from './request.ts';
import { type StreamEvent, type StreamOptions, streamEvents } from './stream.ts';

const METHODS = ['get', 'head', 'options', 'put', 'delete', 'post', 'patch'] as const;

/** The methods of a client, in lower case as in OpenAPI documents. */
type Method = (typeof METHODS)[number];

/**
 * Creates a client of an API. `Paths` are the `paths` that openapi-typescript writes for the OpenAPI
 * document of the API.
 *
 * ```ts
 * const users = createClient<paths>({ baseUrl: 'https://api.example.org' });
 * const { data, etag } = await users.get('/users/{id}', { path: { id: '7' } });
 * await users.patch('/users/{id}', { path: { id: '7' }, body: { name: 'Ada' }, ifMatch: etag });
 * ```
 *
 * A call rejects with a `ProblemError` if it fails, and with the reason of the abort signal if the caller
 * aborts it.
 *
 * @throws {TypeError} if `baseUrl` is not an http address, or an option is unknown or invalid
 */
export function createClient<Paths>(options: ClientOptions): Client<Paths> {
  const settings = readClientOptions(options);
  const cache = createEtagCache(settings.cacheBytes);
  const methods = METHODS.map((method) => [
    method,
    async (path: string, callOptions: UntypedCallOptions = {}) => {
      const operation = { method: method.toUpperCase(), path };
      const request = prepareRequest(operation, callOptions, settings);
      const { attempts } = settings;
      return runCall({ request, options: callOptions, settings, cache, attempts });
    },
  ]);
  const isProblem = (error: unknown) => isProblemOf(settings, error);
  const stream = (path: string, callOptions: UntypedCallOptions = {}) =>
    streamEvents(path, callOptions, settings);
  return { ...Object.fromEntries(methods), isProblem, stream };
}

/** The paths that have an operation for `M`. */
type PathsWith<Paths, M extends Method> = {
  [Path in keyof Paths]: Paths[Path] extends { readonly [Name in M]: object } ? Path : never;
}[keyof Paths];

type Operation<Paths, Path extends keyof Paths, M extends Method> = M extends keyof Paths[Path]
  ? Paths[Path][M]
  : never;

/**
 * `path`, `query` and `headers` of an operation; each is required if the document requires it. The brackets
 * prevent the compiler from computing the parameters of all operations for each call.
 */
type Parameters<Op> = [Op] extends [{ parameters: infer All }]
  ? PathOf<All> & QueryOf<All> & HeadersOf<All>
  : { headers?: HeaderFields };

type PathOf<All> = All extends { path: infer Path } ? { path: Path } : unknown;

type QueryOf<All> = All extends { query: infer Query }
  ? { query: Query }
  : All extends { query?: infer Query }
    ? { query?: Query }
    : unknown;

type HeadersOf<All> = All extends { header: infer Header }
  ? { headers: Header & HeaderFields }
  : { headers?: HeaderFields };

/** The JSON type among the media types of a body; a body of another type is sent unchanged. */
type RequestContent<Content> = [JsonOf<Content>] extends [never]
  ? NonNullable<RequestInit['body']>
  : JsonOf<Content>;

type JsonOf<Content> = Content[Extract<keyof Content, `${string}json`>];

/** `body` of an operation, with brackets for the same reason. */
type Body<Op> = [Op] extends [{ requestBody: { content: infer Content } }]
  ? { body: RequestContent<Content> }
  : [Op] extends [{ requestBody?: infer Optional }]
    ? OptionalBody<NonNullable<Optional>>
    : { body?: never };

type OptionalBody<Documented> = [Documented] extends [never]
  ? { body?: never }
  : [Documented] extends [{ content: infer Content }]
    ? { body?: RequestContent<Content> }
    : { body?: never };

type SuccessStatus = 200 | 201 | 202 | 203 | 204 | 205 | 206 | 207 | '2XX';

/** The JSON body of each documented success; undefined for a response without content. */
type Data<Op> = Op extends { responses: infer Responses }
  ? [Extract<keyof Responses, SuccessStatus>] extends [never]
    ? unknown
    : ContentOf<Responses[Extract<keyof Responses, SuccessStatus>]>
  : unknown;

type ContentOf<Response> = Response extends { content: infer Content }
  ? JsonOf<Content>
  : undefined;

/** The options of a call of `Op`: an optional argument if nothing in it is required. */
type Arguments<Options> = object extends Options ? [options?: Options] : [options: Options];

type CallOptionsOf<Op> = CallOptions & Parameters<Op> & Body<Op>;

/** The problems of an operation: the body of each documented error response. */
type ProblemsIn<Op> = Op extends { responses: infer Responses }
  ? {
      [Status in keyof Responses]: Responses[Status] extends {
        content: { 'application/problem+json': infer Body };
      }
        ? Body
        : never;
    }[keyof Responses]
  : never;

/** The problems of all operations. */
type ProblemsOf<Paths> = {
  [Path in keyof Paths]: {
    [M in Extract<keyof Paths[Path], Method>]-?: ProblemsIn<Paths[Path][M]>;
  }[Extract<keyof Paths[Path], Method>];
}[keyof Paths];

/** An error with each of these problems as its own alternative, so that `code` selects the type of `problem`. */
type ErrorWith<Problems> = Problems extends { code: infer Code }
  ? ProblemError & { readonly code: Code; readonly problem: Problems }
  : never;

/** An error response to a call, with the codes and members of the document. */
export type ApiProblem<Paths> = [ErrorWith<ProblemsOf<Paths>>] extends [never]
  ? ProblemError
  : ErrorWith<ProblemsOf<Paths>>;
/** The documented events of a stream. */
type Events<Op> = Op extends {
  responses: { 200: { content: { 'text/event-stream': infer Documented } } };
}
  ? Documented
  : never;

type StreamPaths<Paths> = {
  [Path in PathsWith<Paths, 'get'>]: [Events<Operation<Paths, Path, 'get'>>] extends [never]
    ? never
    : Path;
}[PathsWith<Paths, 'get'>];

type EventOf<Documented> = Documented extends { event: infer Name; data: infer Data }
  ? StreamEvent<Name, Data>
  : StreamEvent;

/** One method per HTTP method, typed by the `paths` that openapi-typescript writes for a document. */
export type Client<Paths> = {
  readonly [M in Method]: <Path extends PathsWith<Paths, M>>(
    path: Path,
    ...options: Arguments<CallOptionsOf<Operation<Paths, Path, M>>>
  ) => Promise<ClientResponse<Data<Operation<Paths, Path, M>>>>;
} & {
  /**
   * Whether `error` is an error response with a code, to a call of this client. Its `code` then selects the
   * type of `problem`. A newer server may send codes that the document does not have: keep a default.
   */
  readonly isProblem: (error: unknown) => error is ApiProblem<Paths>;
  /** The events of a stream, for `for await`. It continues after a cut: see the README. */
  stream<Path extends StreamPaths<Paths>>(
    path: Path,
    ...options: Arguments<StreamOptions & Parameters<Operation<Paths, Path, 'get'>>>
  ): AsyncGenerator<EventOf<Events<Operation<Paths, Path, 'get'>>>, void>;
};
