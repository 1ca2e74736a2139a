/*
 * Stands for users and catalog where reports asks for their figures: the same answer at once, so that
 * what is measured is reports.
 */
import { createServer, type RequestListener } from 'node:http';

import { listenOnFreePort } from '../../http/contestant.ts';
import { serveMeasured } from '../../measured.ts';

const DAYS = Array.from({ length: 30 }, (_, day) => ({
  date: new Date(Date.UTC(2026, 0, day + 1)).toISOString().slice(0, 10),
  count: (day * 7) % 23,
}));

const USERS = {
  total: 12_345,
  byDay: DAYS,
  byDomain: Array.from({ length: 10 }, (_, index) => ({
    domain: `example-${index}.org`,
    count: 1_000 - 90 * index,
  })),
};

const CATALOG = {
  total: 1_200,
  byCategory: Array.from({ length: 12 }, (_, index) => ({
    category: `Category ${index + 1}`,
    currency: 'EUR',
    items: 155 - 10 * index,
    minPriceCents: 500 + index,
    medianPriceCents: 2_500 + index,
    maxPriceCents: 25_000 + index,
  })),
};

const answerOf = (data: unknown) => Buffer.from(JSON.stringify({ data }));
const users = answerOf(USERS);
const catalog = answerOf(CATALOG);

/** Answers as users and catalog would. */
export const answerFigures: RequestListener = (req, res) => {
  const body = req.url?.startsWith('/api/v2/users') ? users : catalog;
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  res.end(body);
};

if (import.meta.main) await serveMeasured(() => listenOnFreePort(createServer(answerFigures)));
