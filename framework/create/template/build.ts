import { buildService } from '@fw/service/build';

await buildService({ entry: 'src/main.ts', outfile: 'dist/main.js' });
