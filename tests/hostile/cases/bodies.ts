import { gzipSync } from 'node:zlib';

import { type Topic, USER } from '../cases.ts';

/** Bodies and their `Content-Type`: only the service users reads them. */
export const bodies: Topic = ({ post }) => {
  const body = (text: string, ...headers: string[]) =>
    post([...headers, `Content-Length: ${text.length}`], text);
  const typed = (type: string) =>
    body(USER).replace('Content-Type: application/json', `Content-Type: ${type}`);
  const coded = (coding: string, text: string) => body(text, `Content-Encoding: ${coding}`);
  const gzip = (text: string) => gzipSync(text).toString('latin1');
  return [
    ['a type followed by a tab', 'CVE-2026-25223', typed('application/json\ta'), '415* keep'],
    ['a type in upper case', 'CVE-2025-32442', typed('APPLICATION/JSON'), 'created keep'],
    [
      'a type with spaces before the semicolon',
      'CVE-2025-32442',
      typed('application/json ; charset=utf-8'),
      'created keep',
    ],
    ['a type that is a list', 'CVE-2022-41919', typed('application/json, text/plain'), '415* keep'],
    ['a type without a subtype', 'CVE-2022-39288', typed('application'), '415* keep'],
    ['an empty type', 'CVE-2022-39288', typed(''), '415* keep'],
    ['a type with a quote', 'CVE-2022-39288', typed('application/json; charset="'), '415* keep'],
    ['a type of a form', 'CVE-2024-43787', typed('application/x-www-form-urlencoded'), '415* keep'],
    ['a type of text', 'CVE-2024-48913', typed('text/plain'), '415* keep'],
    ['a type of XML', 'RFC 9110 §15.5.16', typed('application/xml'), '415* keep'],
    [
      'a type of multipart without a boundary',
      'CVE-2025-7338',
      typed('multipart/form-data'),
      '415* keep',
    ],
    ['a suffix +json', 'RFC 6839 §3.1', typed('application/evil+json'), 'created keep'],
    [
      '7,000 spaces in the type',
      'CWE-1333',
      typed(`application/json;${' '.repeat(7_000)}a`),
      '415* keep',
    ],
    ['two types', 'RFC 9110 §5.3', body(USER, 'Content-Type: text/html'), 'created keep'],
    [
      'no type',
      'RFC 9110 §8.3',
      body(USER).replace('Content-Type: application/json\r\n', ''),
      '415* keep',
    ],
    ['UTF-7', 'CVE-2014-6393', typed('application/json; charset=utf-7'), '415* keep'],
    ['UTF-16', 'RFC 8259 §8.1', typed('application/json; charset=utf-16le'), '415* keep'],
    ['a Range', 'RFC 9110 §14.2', body(USER, 'Range: bytes=0-10'), 'created keep'],
    ['no JSON', 'RFC 8259 §2', body('hello'), '400* keep'],
    ['an empty body', 'RFC 8259 §2', body(''), '400* keep'],
    ['null', 'RFC 8259 §3', body('null'), '400* keep'],
    ['an array', 'RFC 8259 §5', body('[]'), '400* keep'],
    ['a number', 'RFC 8259 §6', body('1e999'), '400* keep'],
    ['text after the JSON', 'RFC 8259 §2', body(`${USER}x`), '400* keep'],
    ['a byte order mark', 'RFC 8259 §8.1', body(`\xef\xbb\xbf${USER}`), '400* keep'],
    ['invalid UTF-8', 'RFC 8259 §8.1', body('{"name":"\xff","email":"a@b.c"}'), '400* keep'],
    ['a NUL in a string', 'CWE-158', body('{"name":"a\\u0000b","email":"a@b.c"}'), '400* keep'],
    ['a lone surrogate', 'RFC 8259 §8.2', body('{"name":"\\ud800","email":"a@b.c"}'), '400* keep'],
    [
      'a key of __proto__',
      'CWE-1321',
      body('{"__proto__":{"a":1},"name":"a","email":"a@b.c"}'),
      '400* keep',
    ],
    [
      'an escaped key of __proto__',
      'CWE-1321',
      body('{"\\u005f_proto__":{"a":1},"name":"a","email":"a@b.c"}'),
      '400* keep',
    ],
    [
      'a nested key of __proto__',
      'CWE-1321',
      body('{"name":{"__proto__":{"a":1}},"email":"a@b.c"}'),
      '400* keep',
    ],
    [
      'a key of constructor.prototype',
      'CVE-2019-10744',
      body('{"constructor":{"prototype":{"a":1}},"name":"a","email":"a@b.c"}'),
      '400* keep',
    ],
    [
      'repeated keys',
      'CVE-2017-12635',
      body('{"name":"a","name":"b","email":"a@b.c"}'),
      'created keep',
    ],
    [
      'objects instead of strings',
      'CWE-943',
      body('{"name":{"$gt":""},"email":{"$gt":""}}'),
      '400* keep',
    ],
    ['20,000 nested arrays', 'CWE-674', body('['.repeat(20_000)), '400* keep'],
    [
      '20,000 keys',
      'CVE-2011-4858',
      body(`{${Array.from({ length: 20_000 }, (_, at) => `"${at}":0`).join()}}`),
      '400* keep',
    ],
    [
      'more than the limit',
      'RFC 9110 §15.5.14',
      body(`{"name":"${'a'.repeat(1_100_000)}"}`),
      '413* keep',
      '413 close',
    ],
    [
      'more than the limit in chunks, and a length',
      'CVE-2025-59139',
      post(
        ['Transfer-Encoding: chunked', 'Content-Length: 1'],
        `118000\r\n${'a'.repeat(0x118000)}\r\n0\r\n\r\n`,
      ),
      '400 close',
    ],
    [
      'more than the limit in chunks',
      'CVE-2025-59139',
      post('Transfer-Encoding: chunked', `118000\r\n${'a'.repeat(0x118000)}\r\n0\r\n\r\n`),
      '413* keep',
      '413 close',
    ],
    ['gzip', 'RFC 9110 §8.4', coded('gzip', gzip(USER)), '415* keep'],
    [
      'gzip that expands above the limit',
      'CVE-2025-69223',
      coded('gzip', gzip('a'.repeat(20_000_000))),
      '415* keep',
    ],
    ['gzip twice', 'RFC 9110 §8.4', coded('gzip, gzip', gzip(gzip(USER))), '415* keep'],
    ['gzip that is none', 'RFC 1952 §2.3', coded('gzip', USER), '415* keep'],
    ['gzip without an end', 'RFC 1952 §2.3', coded('gzip', gzip(USER).slice(0, 12)), '415* keep'],
    ['gzip followed by data', 'RFC 1952 §2.2', coded('gzip', `${gzip(USER)}hello`), '415* keep'],
    ['an unknown coding', 'RFC 9110 §15.5.16', coded('evil', USER), '415* keep'],
    ['100 codings', 'CVE-2022-32206', coded('gzip,'.repeat(100), USER), '415* keep'],
    [
      'an idempotency key of 7,000 characters',
      'CWE-770',
      body(USER, `Idempotency-Key: ${'a'.repeat(7_000)}`),
      'created keep',
    ],
  ];
};
