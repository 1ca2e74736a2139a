import { initContract } from '@ts-rest/core';

const c = initContract();
const note = c.type<{ id: string; text: string }>();

export const contract = c.router({
  read: { method: 'GET', path: '/notes/:id', responses: { 200: note } },
  create: {
    method: 'POST',
    path: '/notes',
    body: c.type<{ text: string }>(),
    responses: { 201: note },
  },
  upload: {
    method: 'POST',
    path: '/files',
    contentType: 'multipart/form-data',
    body: c.type<{ file: File }>(),
    responses: { 201: note },
  },
});
