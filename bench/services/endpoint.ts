/** The services that are measured. */
export const SERVICES = ['users', 'catalog', 'reports'] as const;
export type ServiceName = (typeof SERVICES)[number];

/** Where this stands in a request, each request that is sent has a number of as many digits. */
export const NUMBER = 'NNNNNNNNNNNN';

/** One request of the load. */
export interface ServiceRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What a contestant answered. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Sends one request to a contestant. */
export type Ask = (request: ServiceRequest) => Promise<Answer>;

/** One operation of a service, as it is measured. */
export interface Endpoint {
  readonly name: string;
  /** The status of each answer. */
  readonly status: number;
  /** What is sent in turn; `ask` finds out what only the contestant knows, such as a cursor. */
  requests(ask: Ask): readonly ServiceRequest[] | Promise<readonly ServiceRequest[]>;
  /** Each thing that was created is deleted by the next request, whose path is this and its id. */
  readonly thenDeletes?: string;
  /** What must be refused, and with which status. */
  readonly refuses?: readonly (readonly [ServiceRequest, number])[];
}

/** One request with the number that takes the place of `NUMBER`. */
export function numbered(request: ServiceRequest, number: number): ServiceRequest {
  const digits = String(number).padStart(NUMBER.length, '0');
  return JSON.parse(JSON.stringify(request).replaceAll(NUMBER, digits)) as ServiceRequest;
}

/** Asks whoever listens on a port of 127.0.0.1. */
export function askOf(port: number): Ask {
  return async ({ method, path, headers = {}, body }) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body }),
    });
    return { status: response.status, headers: response.headers, body: await response.text() };
  };
}
