import { MIGRATIONS } from '@fw/catalog/src/store/postgres-migrations.ts';
import { FORMAT } from '@fw/catalog/src/store/sqlite-migrations.ts';
import { USERS_MIGRATIONS } from '@fw/users/src/store/postgres-migrations.ts';
import { USERS_FORMAT } from '@fw/users/src/store/sqlite-migrations.ts';
import { expect, test } from 'vitest';
import { checksumOf } from '../framework/service/src/stores/migrations.ts';

/** The checksums that databases have recorded: a changed text stops every service that has applied it. */
const CHECKSUMS = [
  ['catalog, PostgreSQL', MIGRATIONS, ['a550eb7831d7c0f2', 'bebf09bc9c46c3fa']],
  ['catalog, SQLite', FORMAT.migrations, ['4f6ccfc782919a50', 'ab765c02cdb362dc']],
  [
    'users, PostgreSQL',
    USERS_MIGRATIONS,
    ['22074f35ce9a50ba', '5990bf00fa96711d', 'd67c52d8a571c7b7'],
  ],
  [
    'users, SQLite',
    USERS_FORMAT.migrations,
    ['e7bd3c1d9cf4f210', '6b279e4186049716', '86199df9be4c053f'],
  ],
] as const;

test.each(CHECKSUMS)(
  'the migrations of %s have the texts that were applied',
  (_, texts, checksums) => {
    expect(texts.map((text) => checksumOf(text).slice(0, 16))).toEqual(checksums);
  },
);
