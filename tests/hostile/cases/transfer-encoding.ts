import { chunk, lines, type Topic, USER } from '../cases.ts';

const BODY = chunk(USER);

/** `Transfer-Encoding` (RFC 9112 §6.1): only `chunked` alone frames a body. */
export const transferEncoding: Topic = ({ post, collection }) => {
  const coded = (coding: string) => post(`Transfer-Encoding: ${coding}`, BODY);
  const both = (coding: string) =>
    post([`Transfer-Encoding: ${coding}`, `Content-Length: ${BODY.length}`], BODY);
  return [
    ['chunked', 'RFC 9112 §7.1', coded('chunked'), 'created keep'],
    ['chunked in upper case', 'RFC 9112 §7', coded('CHUNKED'), 'created keep'],
    [
      'the name in upper case',
      'Http11Probe',
      post('TRANSFER-ENCODING: chunked', BODY),
      'created keep',
    ],
    ['chunked and a length', 'RFC 9112 §6.3', both('chunked'), '400 close'],
    ['Chunked and a length', 'Http11Probe', both('Chunked'), '400 close'],
    ['an unknown coding', 'RFC 9112 §6.1', coded('gzip'), '400 close', '501 close'],
    ['an unknown coding and a length', 'RFC 9112 §6.1', both('gzip'), '400 close', '501 close'],
    ['xchunked', 'Kettle 2019', both('xchunked'), '400 close', '501 close'],
    ['chunkedx', 'CVE-2022-32213', both('chunkedx'), '400 close', '501 close'],
    ['chunk', 'CVE-2024-1135', both('chunk'), '400 close', '501 close'],
    ['identity', 'Http11Probe', both('identity'), '400 close', '501 close'],
    ['identity without a length', 'RFC 9112 §7', coded('identity'), '400 close', '501 close'],
    ['an empty value', 'Http11Probe', both(''), '400 close', '501 close'],
    ['a quoted value', 'Kettle 2019', both('"chunked"'), '400 close', '501 close'],
    ['parameters', 'Http11Probe', both('chunked;ext=val'), '400 close', '501 close'],
    ['gzip, chunked', 'RFC 9112 §7.2', coded('gzip, chunked'), '501 close'],
    ['chunked, gzip', 'RFC 9112 §6.3', coded('chunked, gzip'), '400 close', '501 close'],
    ['chunked, identity', 'CVE-2024-1135', coded('chunked, identity'), '400 close', '501 close'],
    ['chunked twice', 'RFC 9112 §6.1', coded('chunked, chunked'), '400 close', '501 close'],
    [
      'chunked in two headers',
      'CVE-2020-8287',
      post(['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], BODY),
      '400 close',
    ],
    [
      'chunked and identity in two headers',
      'CVE-2020-8287',
      post(['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], BODY),
      '400 close',
    ],
    [
      'identity and chunked in two headers',
      'Kettle 2019',
      post(['Transfer-Encoding: identity', 'Transfer-Encoding: chunked'], BODY),
      '501 close',
      '400 close',
    ],
    ['a comma before chunked', 'HTTP Garden', both(',chunked'), '400 close', '501 close'],
    ['a comma after chunked', 'Http11Probe', both('chunked,'), '400 close', '501 close'],
    ['a space after chunked', 'Http11Probe', both('chunked '), '400 close'],
    ['a tab before chunked', 'Http11Probe', both('\tchunked'), '400 close', '501 close'],
    [
      'a vertical tab before chunked',
      'CVE-2019-18277',
      both('\vchunked'),
      '400 close',
      '501 close',
    ],
    ['a form feed before chunked', 'Http11Probe', both('\fchunked'), '400 close', '501 close'],
    ['a NUL after chunked', 'Http11Probe', both('chunked\0'), '400 close'],
    ['a carriage return after chunked', 'CVE-2019-15605', both('chunked\r'), '400 close'],
    ['a line feed before chunked', 'Kettle 2019', both('\nchunked'), '400 close', '501 close'],
    [
      'bytes outside ASCII around chunked',
      'HTTP Garden',
      both('\xa0chunked\xa0'),
      '400 close',
      '501 close',
    ],
    ['a folded value', 'CVE-2022-32215', both('\r\n chunked'), '400 close'],
    [
      'a value folded after the coding',
      'CVE-2022-32215',
      both('chunked\r\n , identity'),
      '400 close',
    ],
    [
      'a space before the colon',
      'CVE-2019-16276',
      post(['Transfer-Encoding : chunked', `Content-Length: ${BODY.length}`], BODY),
      '400 close',
    ],
    [
      'a space before the name',
      'Kettle 2019',
      post(['X-Test: a', ' Transfer-Encoding: chunked', `Content-Length: ${BODY.length}`], BODY),
      '400 close',
    ],
    [
      'a line feed before the name',
      'Kettle 2019',
      post(['X-Test: a\nTransfer-Encoding: chunked', `Content-Length: ${BODY.length}`], BODY),
      '400 close',
    ],
    [
      'a name over two lines',
      'HTTP Garden',
      post(['Transfer-', 'Encoding: chunked', `Content-Length: ${BODY.length}`], BODY),
      '400 close',
      '400* keep',
    ],
    [
      'an underscore in the name',
      'Http11Probe',
      post(['Transfer_Encoding: chunked', `Content-Length: ${USER.length}`], USER),
      'created keep',
    ],
    [
      'chunked in HTTP/1.0',
      'RFC 9112 §6.1',
      lines(
        `POST ${collection} HTTP/1.0`,
        'Host: a',
        'Connection: keep-alive',
        'Transfer-Encoding: chunked',
      ) + BODY,
      '400 close',
    ],
    [
      'chunked and a length in HTTP/1.0',
      'Http11Probe',
      lines(
        `POST ${collection} HTTP/1.0`,
        'Host: a',
        'Transfer-Encoding: chunked',
        'Content-Length: 5',
      ) + BODY,
      '400 close',
    ],
  ];
};
