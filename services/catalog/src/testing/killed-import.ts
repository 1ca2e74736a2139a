import { createReadStream } from 'node:fs';

import { importItems } from '../import/import.ts';
import { createSource } from '../import/source.ts';
import { openSqliteImport } from '../store/sqlite-import.ts';

// Imports a file and kills itself at its n-th event, if it comes so far.
const [file = '', database = '', lastEvent = ''] = process.argv.slice(2);
const target = openSqliteImport(database);
let events = 0;
await importItems({
  open: () => createSource(createReadStream(file, { highWaterMark: 32_768 })),
  target,
  isResumable: true,
  isStrict: false,
  signal: new AbortController().signal,
  onEvent: () => {
    if (++events === Number(lastEvent)) process.kill(process.pid, 'SIGKILL');
  },
});
await target.close();
