import fs from 'node:fs/promises';
import path from 'node:path';

import { build } from 'esbuild';

/*
 * Makes the page's script and style one text each, so that they are also there in a bundle, where no
 * file stands beside the program: `node framework/openapi/page/build.ts` after a change in here.
 */

async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [path.join(import.meta.dirname, entry)],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    charset: 'ascii', // an octet is an octet, whatever a proxy thinks of the charset
    target: ['chrome123', 'firefox121', 'safari17.5'],
  });
  return outputFiles[0]?.text.trim() ?? '';
}

/** The text of the module `src/docs/page-assets.ts`. */
export async function buildAssets(): Promise<string> {
  const texts = { PAGE_STYLE: await bundle('style.css'), PAGE_SCRIPT: await bundle('main.ts') };
  return [
    '// biome-ignore-all format: made by page/build.ts from what is beside it',
    '// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a script of its own\n',
    ...Object.entries(texts).map(
      ([name, text]) => `export const ${name} =\n  ${JSON.stringify(text)};\n`,
    ),
  ].join('\n');
}

if (import.meta.main) {
  await fs.writeFile(new URL('../src/docs/page-assets.ts', import.meta.url), await buildAssets());
}
