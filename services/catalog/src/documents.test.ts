import { join } from 'node:path';

import { testDocuments } from '@fw/service/testing/vitest';

import { createTestApi } from './testing.ts';

testDocuments(join(import.meta.dirname, '../openapi'), ['v1', 'v2'], () => createTestApi([]));
