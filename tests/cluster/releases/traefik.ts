import { nodeAddress } from '../platform.ts';
import type { World } from '../world.ts';
import { ensureObjects } from './controller.ts';
import { installServer, labelsOf } from './server.ts';

const DEFINITIONS =
  'https://raw.githubusercontent.com/traefik/traefik/v3.6.12/docs/content/reference/dynamic-configuration/kubernetes-crd-definition-v1.yml';
const PORT = 8000;

/** Selects the pods of this Traefik, in a NetworkPolicy. */
export const TRAEFIK_PEERS = [{ podSelector: { matchLabels: labelsOf('traefik') } }];

/**
 * Installs Traefik, `TRAEFIK_IMAGE`, in the namespace of the tests, and its kinds, `TRAEFIK_MANIFEST`, if the cluster
 * has none; returns its address.
 */
export async function installTraefik(world: World): Promise<string> {
  const { namespace } = world;
  const manifest = process.env.TRAEFIK_MANIFEST || DEFINITIONS;
  await ensureObjects(world, { kind: 'traefikservices.traefik.io', manifest, namespace });
  const read = ['get', 'list', 'watch'];
  await installServer(world, {
    name: 'traefik',
    image: process.env.TRAEFIK_IMAGE || 'traefik:v3.6.12',
    args: [
      ...['--global.checknewversion=false', `--entrypoints.web.address=:${PORT}`],
      ...['--ping=true', '--ping.entrypoint=web'],
      ...['--providers.kubernetescrd', `--providers.kubernetescrd.namespaces=${namespace}`],
      '--providers.kubernetescrd.disableclusterscoperesources=true',
      // Otherwise there is no route while the next version has no ready pod: 404.
      '--providers.kubernetescrd.allowemptyservices=true',
    ],
    port: PORT,
    readyPath: '/ping',
    rules: [
      { apiGroups: [''], resources: ['services', 'secrets', 'configmaps'], verbs: read },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: read },
      { apiGroups: ['traefik.io'], resources: ['*'], verbs: read },
    ],
    type: 'NodePort',
  });
  return nodeAddress(world, 'traefik');
}
