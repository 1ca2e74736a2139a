import { expect, test } from 'vitest';
import * as z from 'zod';

import { describeVariables, integer, url } from './variables.ts';

test('describeVariables reads default, unit, meaning and secrecy from the schemas', () => {
  const variables = {
    WAIT_MS: integer(0, 9).default(5).meta({ description: 'how long it waits', unit: 'ms' }),
    FILE: z.string().default('/srv/a.db').meta({ description: 'database', default: 'a.db' }),
    PEER: url('http').optional().meta({ description: 'another service' }),
    KEY: z.string().optional().meta({ description: 'private key', secret: true }),
  };

  expect(describeVariables(variables)).toEqual([
    { name: 'WAIT_MS', default: '5', unit: 'ms', meaning: 'how long it waits', secret: false },
    { name: 'FILE', default: 'a.db', meaning: 'database', secret: false },
    { name: 'PEER', meaning: 'another service', secret: false },
    { name: 'KEY', meaning: 'private key', secret: true },
  ]);
});
