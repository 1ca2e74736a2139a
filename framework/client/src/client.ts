import { runCall } from './call.ts';
import { type ClientOptions, readClientOptions } from './client-options.ts';
import { createEtagCache } from './etag-cache.ts';
import { prepareRequest, type UntypedCallOptions } from './request.ts';
import type { Client, Method } from './typed-calls.ts';

const METHODS: readonly Method[] = ['get', 'head', 'options', 'put', 'delete', 'post', 'patch'];

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
      return runCall({ request, options: callOptions, settings, cache });
    },
  ]);
  return Object.fromEntries(methods);
}
