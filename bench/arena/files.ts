import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const SIZES_KIB: Readonly<Record<string, readonly number[]>> = {
  css: [8, 12, 24, 36, 100],
  js: [12, 18, 30, 60, 180],
  html: [55, 90],
  woff2: [18, 22],
  svg: [15, 70],
  webp: [6, 9, 45],
  json: [3],
};

/** The files of the `static` profile. */
export const FILES = Object.entries(SIZES_KIB).flatMap(([extension, sizes]) =>
  sizes.map((kib) => ({ name: `${kib}-kib.${extension}`, bytes: kib * 1024 })),
);

/** Pseudorandom numbers from 0 to 1, the same ones in each run. */
export function createRandom(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** Writes the files to `folder`, those of text also compressed. */
export function writeFiles(folder: string): void {
  mkdirSync(folder);
  const random = createRandom();
  const words = Array.from({ length: 400 }, () => random().toString(36).slice(2, 9));
  for (const { name, bytes } of FILES) {
    const isText = !/webp|woff2/.test(name);
    const content = Buffer.alloc(bytes);
    for (let at = 0; at < bytes; at++) content[at] = random() * 256;
    for (let at = 0; isText && at < bytes; ) {
      at += content.write(`${words[Math.floor(random() ** 2 * 400)]} `, at, 'latin1');
    }
    writeFileSync(join(folder, name), content);
    if (!isText) continue;
    writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }));
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes };
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content, { params }));
  }
}
