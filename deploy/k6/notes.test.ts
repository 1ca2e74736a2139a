import { expect, test } from 'vitest';

import { readNotes } from './notes.ts';

const line = (entry: object) => JSON.stringify({ level: 'warning', ...entry });

test('what is said of many requests is one note, with how often', () => {
  const refused = (path: string, port: number) =>
    line({
      msg: 'Request Failed',
      error: `Get "http://host/${path}": read tcp 127.0.0.1:${port}->127.0.0.1:80: reset`,
    });
  const log = [
    line({ msg: 'GET /api/v1/users answered 503: {"requestId":"a"}', source: 'console' }),
    refused('a', 50_001),
    refused('b', 50_002),
  ].join('\n');

  expect(readNotes(log)).toEqual([
    {
      text: 'Request Failed: Get "http://host/a": read tcp 127.0.0.1:50001->127.0.0.1:80: reset',
      times: 2,
    },
    { text: 'GET /api/v1/users answered 503: {"requestId":"a"}', times: 1 },
  ]);
});

test('answers of another status or version are other notes', () => {
  const texts = [
    'GET /api/v1/users answered 503: {"status":503}',
    'GET /api/v2/users answered 503: {"status":503}',
    'GET /api/v2/users answered 502: {"status":502}',
  ];

  const notes = readNotes(texts.map((msg) => line({ msg })).join('\n'));

  expect(notes.map(({ text }) => text)).toEqual(texts);
});

test('missed objectives are no note, as the summary has them', () => {
  expect(
    readNotes(`${line({ msg: "thresholds on metrics 'checks' have been crossed" })}\n`),
  ).toEqual([]);
});

test('a line that is no JSON is a note as it stands', () => {
  expect(readNotes('panic: nothing\n\n')).toEqual([{ text: 'panic: nothing', times: 1 }]);
});
