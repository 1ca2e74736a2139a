/** What the deployment and the tests know about a service. */
interface ServiceDescription {
  /** The folder in `services/`, the image `fw-<name>`, the chart, and the path `/api/v1/<name>`. */
  readonly name: string;
  /**
   * Its processes with the backend `processes`, whose ports follow the edge's in the order of the list. On a
   * cluster, the chart decides.
   */
  readonly replicas: number;
  /** The versions of the API: `/api/v1/<name>`. */
  readonly versions: readonly string[];
  /** `database`: SQLite or PostgreSQL (`DATABASE_URL`). `counters`: memory or Redis (`REDIS_URL`). */
  readonly store: 'database' | 'counters';
  /** Whether requests need a bearer token. */
  readonly authenticated: boolean;
  /** The variables that `make up` passes on from its own environment. */
  readonly environment: readonly string[];
  /** The services that it calls, at the address in `<NAME>_URL`. */
  readonly calls: readonly string[];
}

const ENVIRONMENT = ['LOG_LEVEL', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'REQUEST_TIMEOUT_MS'];

/**
 * The services: the only list. What cannot be derived from it is checked against it: services.test.ts
 * and the tests that it names. A service follows those that it calls.
 */
export const SERVICES = [
  {
    name: 'users',
    replicas: 2,
    versions: ['v1', 'v2'],
    store: 'database',
    authenticated: false,
    environment: [...ENVIRONMENT, 'BODY_LIMIT'],
    calls: [],
  },
  {
    name: 'catalog',
    replicas: 2,
    versions: ['v1', 'v2'],
    store: 'database',
    authenticated: false,
    environment: ENVIRONMENT,
    calls: [],
  },
  {
    name: 'reports',
    replicas: 1,
    versions: ['v1', 'v2'],
    store: 'counters',
    authenticated: true,
    environment: ENVIRONMENT,
    calls: ['users', 'catalog'],
  },
] as const satisfies readonly ServiceDescription[];

export type ServiceName = (typeof SERVICES)[number]['name'];

/** The names of the services, in the order of their ports. */
export const SERVICE_NAMES: readonly ServiceName[] = SERVICES.map(({ name }) => name);

/** The description of the service `name`. */
export function serviceOf(name: ServiceName): ServiceDescription {
  return SERVICES.find((service) => service.name === name) as ServiceDescription;
}
