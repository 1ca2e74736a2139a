import fs from 'node:fs';
import path from 'node:path';

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
  /** The status of a POST to `collection` with the fields of a user: other services reject them. */
  readonly created: number;
}

/** The first replica of each service, directly and through the edge. */
export function targetsOf({ port }: Pick<TrialSystem, 'port'>): Target[] {
  return SERVICES.flatMap(({ name: service, versions, authenticated }) => {
    const replica = replicasOf(port).find((one) => one.service === service);
    const paths = {
      path: `/api/${versions.at(-1)}/${service}?limit=1`,
      collection: `/api/v1/${service}`,
    };
    return (['direct', 'edge'] as const).map((way) => ({
      name: `${service} ${way}`,
      service,
      way,
      port: way === 'edge' ? port : (replica?.port ?? 0),
      ...paths,
      ok: authenticated ? 401 : 200,
      created: service === 'users' ? 201 : takesPost(service) ? 400 : 405,
    }));
  });
}

/** Whether the collection of version 1 has POST, according to its OpenAPI document. */
function takesPost(service: ServiceName): boolean {
  const file = path.join(import.meta.dirname, `../../services/${service}/openapi/v1.json`);
  const { paths } = JSON.parse(fs.readFileSync(file, 'utf8'));
  return paths[`/api/v1/${service}`]?.post !== undefined;
}
