import { SERVICES } from '../../../services/services.ts';
import type { Kind } from './objectives.ts';

/** The requests of `rollout`; half of them create users. */
export const ROLLOUT_KINDS = {
  creating: ['POST /api/v2/users', 'POST /api/v1/users'],
  reading: [
    'GET /api/v1/users/:id',
    ...SERVICES.flatMap(({ name }) => [
      `GET /api/v1/${name}` as const,
      `GET /api/v2/${name}` as const,
    ]),
  ],
} as const satisfies Record<string, readonly Kind[]>;

/** The requests of `stress`, `spike` and `breakpoint`, each as often as the others. */
export const MIXED_KINDS = [
  'GET /api/v2/catalog',
  'GET /api/v2/users',
  'GET /api/v1/catalog',
  'POST /api/v2/users',
  'GET /api/v2/catalog/facets',
  'GET /api/v1/users/:id',
  'GET /api/v2/reports',
  'GET /api/v2/reports/:id',
  'GET /api/v1/reports',
] as const satisfies readonly Kind[];

/** The same operation in both versions, which `versions` compares. */
export const COMPARED_KINDS = {
  'create a user': ['POST /api/v1/users', 'POST /api/v2/users'],
  'read a user': ['GET /api/v1/users/:id', 'GET /api/v2/users/:id'],
  'list users': ['GET /api/v1/users', 'GET /api/v2/users'],
  'change a user': ['PUT /api/v1/users/:id', 'PATCH /api/v2/users/:id'],
  'delete a user': ['DELETE /api/v1/users/:id', 'DELETE /api/v2/users/:id'],
  'list items': ['GET /api/v1/catalog', 'GET /api/v2/catalog'],
  'list reports': ['GET /api/v1/reports', 'GET /api/v2/reports'],
} as const satisfies Record<string, readonly [Kind, Kind]>;
