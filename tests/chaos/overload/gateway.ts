import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { LIMITED } from '../../../deploy/charts/tests/values.ts';
import { isReady } from '../../../deploy/local/processes/process.ts';
import { freePort } from '../../../deploy/local/testing/ports.ts';
import { startProgram } from '../../../deploy/local/testing/program.ts';

export interface GatewayOptions {
  /** The path of Traefik. */
  readonly traefik: string;
  /** The port of the replica of users. */
  readonly upstream: number;
  /** Whether to limit the requests in flight. */
  readonly isLimited: boolean;
}

export interface Gateway {
  readonly port: number;
  stop(): Promise<void>;
}

/** The values of users that the routes consist of. */
interface RouteValues {
  readonly httpRoute: {
    readonly rules: readonly {
      readonly matches: readonly [{ readonly method?: string; readonly path: { value: string } }];
      readonly filters?: unknown;
    }[];
  };
  readonly extraObjects: readonly [{ readonly spec: { readonly inFlightReq: { amount: number } } }];
  readonly autoscaling: { readonly minReplicas: number };
}

/** The pods of Traefik for which the example has its limit. */
const GATEWAY_PODS = 2;

/** Starts Traefik in front of users, with the rules and the limit of deploy/charts/examples/gateway-limit-traefik.yaml. */
export async function startGateway({
  traefik,
  upstream,
  isLimited,
}: GatewayOptions): Promise<Gateway> {
  const port = await freePort();
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-gateway-'));
  const file = path.join(folder, 'routes.yaml');
  // YAML includes JSON.
  fs.writeFileSync(file, JSON.stringify({ http: routesTo(upstream, isLimited) }));
  const command = [
    ...[traefik, '--global.checknewversion=false', '--log.level=ERROR'],
    ...[`--entrypoints.web.address=127.0.0.1:${port}`, `--providers.file.filename=${file}`],
  ];
  const readyUrl = `http://127.0.0.1:${port}/api/v2/users?limit=1`;
  const program = await startProgram(command, { ready: readyUrl, cwd: folder });
  // Traefik responds with 404 until it has read the file.
  while (!(await isReady({ readyUrl }))) await sleep(20);
  const stop = async () => {
    await program.stop();
    fs.rmSync(folder, { recursive: true });
  };
  return { port, stop };
}

function routesTo(upstream: number, isLimited: boolean): object {
  const { httpRoute, extraObjects, autoscaling } = LIMITED.users as RouteValues;
  const { inFlightReq } = extraObjects[0].spec;
  // For one pod of users and one of Traefik.
  const amount = (inFlightReq.amount * GATEWAY_PODS) / autoscaling.minReplicas;
  const routers = httpRoute.rules.map(({ matches: [{ method, path }], filters }, index) => {
    const rule = `PathRegexp(\`${path.value}\`)${method ? ` && Method(\`${method}\`)` : ''}`;
    const middlewares = isLimited && filters ? ['limit'] : [];
    return [`rule-${index}`, { rule, service: 'users', middlewares, priority: 10 - index }];
  });
  return {
    routers: Object.fromEntries(routers),
    ...(isLimited && { middlewares: { limit: { inFlightReq: { ...inFlightReq, amount } } } }),
    services: {
      users: { loadBalancer: { servers: [{ url: `http://127.0.0.1:${upstream}` }] } },
    },
  };
}
