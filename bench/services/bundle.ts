import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

import { REQUIRE } from '../start/bundle.ts';
import type { ServiceName } from './endpoint.ts';

/** What serves one service as each of its contestants. */
export interface Programs {
  readonly whole: string;
  /** Without what observes requests: their ids, log and metrics. */
  readonly bare: string;
}

/** Bundles them: the controllers of a service need a transform before Node can run them. */
export async function bundleServer(service: ServiceName, directory: string): Promise<Programs> {
  const bundle = async (name: string, plugins: Plugin[]): Promise<string> => {
    const outfile = join(directory, `${service}-${name}.mjs`);
    await build({
      stdin: {
        contents: `
          import { serve } from './serve.ts';
          import { subject } from './${service}.ts';
          await serve(subject);`,
        resolveDir: fileURLToPath(new URL('servers', import.meta.url)),
      },
      outfile,
      format: 'esm',
      bundle: true,
      platform: 'node',
      target: 'node26',
      external: ['pg-native', 'cloudflare:sockets'],
      logLevel: 'error',
      banner: { js: REQUIRE },
      plugins,
    });
    return outfile;
  };
  return { whole: await bundle('whole', []), bare: await bundle('bare', [withoutObservation()]) };
}

/** Leaves out what `@fw/service` does to see each request; all else stays. */
function withoutObservation(): Plugin {
  return {
    name: 'without-observation',
    setup({ onLoad, onEnd }) {
      let isLeftOut = false;
      onLoad({ filter: /framework\/service\/src\/observe\.ts$/ }, () => {
        isLeftOut = true;
        return { contents: 'export const observe = () => (_ctx, next) => next();' };
      });
      onEnd(() =>
        isLeftOut ? {} : { errors: [{ text: 'Cannot find what observes the requests' }] },
      );
    },
  };
}
