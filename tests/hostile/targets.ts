import { replicasOf } from '../../deploy/local/processes/system.ts';
import type { TrialSystem } from '../../deploy/local/testing/trial-system.ts';
import { SERVICES, type ServiceName } from '../../services/services.ts';

/** A service, reached directly or through the edge. */
export interface Target {
  readonly name: string;
  readonly service: ServiceName;
  readonly way: 'direct' | 'edge';
  readonly port: number;
  /** A path that responds to GET with the status `ok`. */
  readonly path: string;
  /** The path of a collection. */
  readonly collection: string;
  /** The status of a valid GET of `path`. */
  readonly ok: number;
  /** The status of a POST to `collection` with the fields of a user. */
  readonly created: number;
}

const STATUSES = {
  users: { ok: 200, created: 201 },
  catalog: { ok: 200, created: 405 },
  reports: { ok: 401, created: 405 },
} as const satisfies Record<ServiceName, Pick<Target, 'ok' | 'created'>>;

/** The first replica of each service, directly and through the edge. */
export function targetsOf({ port }: Pick<TrialSystem, 'port'>): Target[] {
  return SERVICES.flatMap(({ name: service }) => {
    const replica = replicasOf(port).find((one) => one.service === service);
    const paths = {
      path: `/api/v2/${service}?limit=1`,
      collection: `/api/v1/${service}`,
    };
    return (['direct', 'edge'] as const).map((way) => ({
      name: `${service} ${way}`,
      service,
      way,
      port: way === 'edge' ? port : (replica?.port ?? 0),
      ...paths,
      ...STATUSES[service],
    }));
  });
}
