/*
 * `GET /api/v1/users/:id` on node:http with the query of the service, and nothing else. Reads the environment
 * variables of the service.
 */
import { createServer } from 'node:http';

import { openDatabase } from '@fw/service/sqlite';
import { toJson } from '@fw/users/src/schemas.ts';
import { COLUMNS, toUser } from '@fw/users/src/store/rows.ts';
import { USERS_FORMAT } from '@fw/users/src/store/sqlite-migrations.ts';

import { usedCpuMicros } from '../measured.ts';

const { DATABASE_FILE = '', PORT } = process.env;
const find = openDatabase(DATABASE_FILE, USERS_FORMAT).prepare(
  `SELECT ${COLUMNS} FROM users WHERE id = ?`,
);

const server = createServer((req, res) => {
  const { url = '' } = req;
  if (url === '/metrics') {
    res.end(`process_cpu_seconds_total ${usedCpuMicros() / 1e6}\n`);
    return;
  }
  const row = find.get(url.slice('/api/v1/users/'.length));
  const body = JSON.stringify(row ? { data: toJson(toUser(row)) } : { title: 'Not Found' });
  res
    .writeHead(row ? 200 : 404, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
    })
    .end(body);
});
server.listen(Number(PORT), '127.0.0.1');
