import http from 'node:http';

interface Target {
  readonly port: number;
  readonly agent: http.Agent;
}

/** A request of a measurement. */
export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Resolves with the status of the response. `fetch` would repeat some failed requests. */
export function send(
  { method, path, headers = {}, body }: HttpRequest,
  target: Target,
): Promise<number> {
  return new Promise((resolve, reject) => {
    http
      .request({ host: '127.0.0.1', ...target, method, path, headers })
      .on('response', (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      })
      .on('error', reject)
      .end(body);
  });
}
