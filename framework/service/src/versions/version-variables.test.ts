import { expect, test } from 'vitest';

import { readConfig } from '../config/read-config.ts';
import { versionVariables } from './version-variables.ts';

test.each([
  ['V1_SUNSET', '2026-11-30', 'must not be before 2026-12-01, got "2026-11-30"'],
  ['V1_SUNSET', '2027-02-30', 'must be a day such as 2027-12-31, got "2027-02-30"'],
  ['V1_SUNSET', '2026-02-30', 'must be a day such as 2027-12-31, got "2026-02-30"'],
  ['V1_SUNSET', 'tomorrow', 'must be a day such as 2027-12-31, got "tomorrow"'],
  ['WITHOUT_VERSION', 'v3', 'must be one of v1, got "v3"'],
  ['WITHOUT_VERSION', 'v1,v2', 'must be one of v1, got "v1,v2"'],
])('%s=%s is rejected in one line', (name, value, message) => {
  const read = () => readConfig(versionVariables('2026-12-01'), { [name]: value });

  expect(read).toThrow(new Error(`${name} ${message}`));
});
