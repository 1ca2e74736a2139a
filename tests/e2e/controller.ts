import assert from 'node:assert/strict';

import { merge, type Values } from '../../deploy/local/cluster/values.ts';
import { forAllServices, installOverNodes, restart } from './changes.ts';
import type { Platform } from './platform.ts';
import type { World } from './scenario.ts';
import type { Settings } from './settings.ts';

/** The variables that name a controller and its address. */
const VARIABLES = { CONTROLLER: 'controller', CONTROLLER_ADDRESS: 'controllerAddress' } as const;

/** Returns an error message if the variables of a controller, or one more, are not set. */
export function missingController(
  settings: Settings,
  more: Readonly<Record<string, keyof Settings>>,
): string | undefined {
  const unset = Object.entries({ ...more, ...VARIABLES })
    .filter(([, key]) => settings[key] === undefined)
    .map(([variable]) => variable);
  if (unset.length === 0) return undefined;
  return `${unset.join(' and ')} must be set: see tests/e2e/README.md`;
}

/** The namespace of the controller's pods, as a peer of a NetworkPolicy. */
export function controllerPeer({ controller }: Settings): Values {
  assert.ok(controller);
  const matchLabels = { 'kubernetes.io/metadata.name': controller.namespace };
  return { namespaceSelector: { matchLabels } };
}

/** The host name of the controller, for routes and Ingresses. */
export function controllerHost({ controllerAddress }: Settings): string {
  assert.ok(controllerAddress);
  return new URL(controllerAddress).hostname;
}

/** Installs the platform behind the controller; the edge serves only its page. */
export function installBehindController(world: World, values: Values): Promise<Platform> {
  const quiet = forAllServices({ config: { LOG_LEVEL: 'warn' } });
  const edge = { edge: { service: { type: 'ClusterIP' } } };
  return installOverNodes(world, merge(quiet, edge, values), world.settings.controllerAddress);
}

/** Restarts the controller. */
export function restartController(world: World): Promise<void> {
  const { controller } = world.settings;
  assert.ok(controller);
  return restart({ ...world, namespace: controller.namespace }, [controller.name]);
}
