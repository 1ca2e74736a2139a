import { loadOptional } from '@fw/core/extension';

const openPostgres = { user: 'openPostgres()', from: import.meta.url };

export const pg = loadOptional('pg', {
  ...openPostgres,
  bundled: (): typeof import('pg') => require('pg'),
});
export const { parse } = loadOptional('pg-connection-string', {
  ...openPostgres,
  bundled: (): typeof import('pg-connection-string') => require('pg-connection-string'),
});
