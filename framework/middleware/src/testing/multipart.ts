/** The boundary of the bodies that this module creates. */
export const BOUNDARY = 'X-BOUNDARY';

export const MULTIPART_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

/** A part of a form as it is sent; each character is a byte. */
export function part(disposition: string, content = '', headers = ''): string {
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n${headers}\r\n${content}\r\n`;
}

/** A file as it is sent. */
export function filePart(name: string, filename: string, content = 'content'): string {
  return part(`name="${name}"; filename="${filename}"`, content, 'Content-Type: image/png\r\n');
}

/** A complete body. */
export function formOf(...parts: readonly string[]): string {
  return `${parts.join('')}--${BOUNDARY}--\r\n`;
}

export interface HostileBody {
  readonly title: string;
  readonly type?: string;
  readonly body: string;
}

const PHOTO = filePart('photo', 'a.png');

/** Bodies that a parser must reject without a crash and without a file on the disk. */
export const HOSTILE_BODIES: readonly HostileBody[] = [
  { title: 'no boundary in `Content-Type`', type: 'multipart/form-data', body: formOf(PHOTO) },
  {
    title: 'another boundary than in `Content-Type`',
    type: 'multipart/form-data; boundary=other',
    body: formOf(PHOTO),
  },
  { title: 'no last boundary', body: PHOTO },
  { title: 'an unterminated file', body: `${PHOTO}${filePart('b', 'b.png').slice(0, -4)}` },
  {
    title: 'the last boundary, then an unterminated file',
    body: `${formOf()}${PHOTO}${filePart('b', 'b.png').slice(0, -2)}`,
  },
  {
    title: 'a header without end',
    body: `${PHOTO}--${BOUNDARY}\r\nContent-Disposition: form-data`,
  },
  {
    title: 'a part with 1 MB of headers',
    body: formOf(PHOTO, part('name="b"', 'b', `X: ${'x'.repeat(1_000_000)}\r\n`)),
  },
  { title: '10,000 parts', body: formOf(PHOTO, ...Array(10_000).fill(part('name="a"', '1'))) },
  {
    title: '10,000 files',
    body: formOf(...Array.from({ length: 10_000 }, () => filePart('a', 'a.png'))),
  },
  { title: 'a part without a name', body: formOf(PHOTO, part('filename="b.png"', 'content')) },
  { title: 'the field `__proto__`', body: formOf(PHOTO, part('name="__proto__"', '1')) },
];
