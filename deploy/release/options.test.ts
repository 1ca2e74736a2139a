import { expect, test } from 'vitest';

import { SERVICE_NAMES } from '../../services/services.ts';
import { readOptions } from './options.ts';

const BASE = 'http://localhost:8080';

test('a tag and an address are enough', () => {
  expect(readOptions({ TAG: '1.2.3', BASE })).toEqual({
    tag: '1.2.3',
    service: '',
    values: '',
    base: BASE,
    release: 'platform',
    namespace: 'fw',
    profile: 'load',
    timeout: '5m',
  });
});

test.each([
  [{ BASE }, 'TAG is missing: expected the tag of the images, or VALUES'],
  [{ TAG: '1.2.3' }, 'BASE is missing: expected the address of the system'],
  [{ TAG: 'a b', BASE }, 'TAG is "a b": expected the tag of an image, such as 1.2.3'],
  [
    { TAG: '1', SERVICE: 'no service', BASE },
    `SERVICE is "no service": expected ${SERVICE_NAMES.join(', ')}`,
  ],
  [
    { SERVICE: 'users', VALUES: 'package.json', BASE },
    'SERVICE is "users" without TAG: it selects the service that gets the tag',
  ],
  [{ TAG: '1', TIMEOUT: '5', BASE }, 'TIMEOUT is "5": expected a duration such as 5m'],
  [{ VALUES: 'missing.yaml', BASE }, 'VALUES is "missing.yaml": expected an existing file'],
])('%j is rejected', (env, message) => {
  expect(() => readOptions(env)).toThrow(new Error(message));
});
