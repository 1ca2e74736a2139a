import { expect, test } from 'vitest';

import { findDiagnostics } from './diagnostics.ts';
import type { Event, Pod } from './pod.ts';

function pod(name: string, status: Partial<Pod['status']>): Pod {
  return { metadata: { name }, spec: {}, status: { phase: 'Running', ...status } };
}

function event(name: string, reason: string, message: string, lastTimestamp: string): Event {
  const involvedObject = { kind: 'Pod', name };
  return { involvedObject, type: 'Warning', reason, message, lastTimestamp };
}

const READY = [{ type: 'Ready', status: 'True' }];

test('a ready pod without restarts has no diagnostic', () => {
  const container = { name: 'users', ready: true, restartCount: 0, state: { running: {} } };

  const diagnostics = findDiagnostics(
    [pod('users-1', { conditions: READY, containerStatuses: [container] })],
    [],
  );

  expect(diagnostics).toEqual([]);
});

test('an unavailable image is reported with the waiting container and the last event', () => {
  const waiting = { reason: 'ImagePullBackOff', message: 'no such image' };
  const container = { name: 'users', ready: false, restartCount: 0, state: { waiting } };

  const diagnostics = findDiagnostics(
    [pod('users-1', { phase: 'Pending', containerStatuses: [container] })],
    [
      event('users-1', 'Failed', 'Failed to pull', '2026-01-01T00:00:02Z'),
      event('users-1', 'Scheduled', 'Assigned', '2026-01-01T00:00:01Z'),
      event('users-2', 'Failed', 'another', '2026-01-01T00:00:03Z'),
    ],
  );

  expect(diagnostics).toEqual([
    {
      name: 'Pod users-1',
      state: 'container users waits: ImagePullBackOff: no such image',
      event: 'Failed: Failed to pull',
      log: undefined,
    },
  ]);
});

test.each([
  ['fw-users:0.1.0', true],
  ['local/fw-users:0.1.0', true],
  ['registry.example.org/fw-users:0.1.0', false],
  ['localhost:5000/fw-users:0.1.0', false],
])('a failed pull of %s names the setting of a missing registry: %s', (image, isNamed) => {
  const waiting = { reason: 'ErrImagePull', message: 'not found' };
  const users = { name: 'users', image, ready: false, restartCount: 0, state: { waiting } };

  const [found] = findDiagnostics([pod('users-1', { containerStatuses: [users] })], []);

  const hint = `, pulls ${image} from the default registry of the node: set IMAGE_PREFIX, or image.registry of the chart`;
  expect(found?.state).toBe(`container users waits: ErrImagePull: not found${isNamed ? hint : ''}`);
});

test('a running sidecar is not the reason why a pod is not ready', () => {
  const proxy = { name: 'proxy', ready: true, restartCount: 0, state: { running: {} } };
  const users = { name: 'users', ready: false, restartCount: 0, state: { running: {} } };

  const diagnostics = findDiagnostics(
    [pod('users-1', { initContainerStatuses: [proxy], containerStatuses: [users] })],
    [],
  );

  expect(diagnostics).toMatchObject([{ state: 'container users runs and is not ready' }]);
});

test('a full node is reported with the event of a pod without containers', () => {
  const diagnostics = findDiagnostics(
    [pod('users-1', { phase: 'Pending' })],
    [event('users-1', 'FailedScheduling', '0/2 nodes: Insufficient cpu', '2026-01-01T00:00:02Z')],
  );

  expect(diagnostics).toMatchObject([
    { state: 'is Pending', event: 'FailedScheduling: 0/2 nodes: Insufficient cpu' },
  ]);
});

test('a crashing container is reported with its exit code and the log of its last run', () => {
  const container = {
    name: 'users',
    ready: false,
    restartCount: 3,
    state: { waiting: { reason: 'CrashLoopBackOff' } },
    lastState: { terminated: { exitCode: 1, reason: 'Error' } },
  };

  const diagnostics = findDiagnostics([pod('users-1', { containerStatuses: [container] })], []);

  expect(diagnostics).toMatchObject([
    {
      state: 'container users waits: CrashLoopBackOff, ended with 1 (Error), was restarted 3 times',
      log: { container: 'users', previous: true },
    },
  ]);
});

test('failed migrations are reported instead of the service that waits for them', () => {
  const terminated = { exitCode: 1, reason: 'Error' };
  const migrate = { name: 'migrate', ready: false, restartCount: 0, state: { terminated } };
  const users = { name: 'users', ready: false, restartCount: 0, state: { waiting: {} } };

  const diagnostics = findDiagnostics(
    [pod('users-1', { initContainerStatuses: [migrate], containerStatuses: [users] })],
    [],
  );

  expect(diagnostics).toMatchObject([
    {
      state: 'container migrate ended with 1 (Error)',
      log: { container: 'migrate', previous: false },
    },
  ]);
});

test('a controller that cannot create pods is reported with its warning', () => {
  const warning = {
    involvedObject: { kind: 'ReplicaSet', name: 'users-abc' },
    type: 'Warning',
    reason: 'FailedCreate',
    message: 'violates PodSecurity "restricted"',
  };

  expect(findDiagnostics([], [warning, warning])).toEqual([
    {
      name: 'ReplicaSet users-abc',
      state: 'has a warning',
      event: 'FailedCreate: violates PodSecurity "restricted"',
      log: undefined,
    },
  ]);
});

test('migrations that succeeded at the second attempt have no diagnostic', () => {
  const migrate = {
    name: 'migrate',
    ready: true,
    restartCount: 1,
    state: { terminated: { exitCode: 0, reason: 'Completed' } },
    lastState: { terminated: { exitCode: 1, reason: 'Error' } },
  };
  const users = { name: 'users', ready: true, restartCount: 0, state: { running: {} } };

  const diagnostics = findDiagnostics(
    [
      pod('users-1', {
        conditions: READY,
        initContainerStatuses: [migrate],
        containerStatuses: [users],
      }),
    ],
    [],
  );

  expect(diagnostics).toEqual([]);
});
