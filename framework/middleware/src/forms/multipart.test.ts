import fc from 'fast-check';
import { expect, test } from 'vitest';

import { readParts } from './multipart.ts';

/** Pieces of content that resemble a boundary. */
const piece = fc.constantFrom('\r\n', '\r', '\n', '--', '-', 'X', '\r\n--X', ' ', '\t', 'a', 'é');
const content = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));

/** Whether a line of the content would be a boundary. */
const hasBoundary = (text: string) => /(?:^|\r\n)--X(?:--)?[ \t]*(?:\r\n|$)/.test(text);

/** The bytes in chunks of these sizes, of which the last one repeats. */
async function* chunksOf(bytes: Buffer, sizes: readonly number[]) {
  for (let at = 0, index = 0; at < bytes.length; index++) {
    const size = sizes[Math.min(index, sizes.length - 1)] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

/** The content of each part. */
async function contentsOf(body: string, sizes: readonly number[] = [1]): Promise<string[]> {
  const contents: string[] = [];
  const type = 'multipart/form-data; boundary=X';
  for await (const part of readParts(chunksOf(Buffer.from(body), sizes), type)) {
    contents.push(Buffer.concat(await Array.fromAsync(part.content)).toString());
  }
  return contents;
}

test('content of any kind, in chunks of any size, is read as it was sent', async () => {
  const part = (text: string) => `\r\n--X\r\nContent-Disposition: form-data; name=a\r\n\r\n${text}`;

  await fc.assert(
    fc.asyncProperty(
      fc.array(content, { maxLength: 4 }),
      content,
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 10 }),
      async (contents, epilogue, sizes) => {
        fc.pre(![...contents, epilogue].some(hasBoundary));
        const body = `${contents.map(part).join('')}\r\n--X--\r\n${epilogue}`;

        expect(await contentsOf(body, sizes)).toEqual(contents);
      },
    ),
    { numRuns: 2_000 },
  );
});

test('a body that is cut anywhere is malformed', async () => {
  const body = '--X\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--X--';

  for (let length = 0; length < body.length; length++) {
    await expect(contentsOf(body.slice(0, length))).rejects.toThrow('malformed or ends early');
  }
  expect(await contentsOf(body)).toEqual(['1']);
});

test.each(['', '; boundary=""', `; boundary=${'X'.repeat(71)}`, '; boundary="X'])(
  'the type multipart/form-data%s has no boundary',
  async (parameter) => {
    const parts = readParts(chunksOf(Buffer.from('--X--'), [9]), `multipart/form-data${parameter}`);

    await expect(parts.next()).rejects.toThrow('malformed');
  },
);
