import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { deleteKind, readKind } from './cluster/kind.ts';
import { ignoreClosedOutput } from './output.ts';
import { stopSystem } from './processes/launch.ts';
import { folders } from './state.ts';

const { values } = parseArgs({ options: { clean: { type: 'boolean', default: false } } });
const { run } = folders;

ignoreClosedOutput();
try {
  const kind = readKind(run);
  if (kind) console.log(await deleteKind(run, kind));
  const stopped = await stopSystem(folders, values);
  if (!kind) console.log(stopped === 0 ? 'Nothing was running' : `Stopped ${stopped} processes`);
  if (fs.existsSync(folders.data)) {
    const data = path.relative(folders.root, folders.data);
    const what = kind ? 'The data of BACKEND=processes' : 'The data';
    console.log(`${what} remains in ${data} (make down CLEAN=1 removes it)`);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
