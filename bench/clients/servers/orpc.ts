import { os, type } from '@orpc/server';

const note = { id: '', text: '' };

export const router = {
  read: os.input(type<{ id: string }>()).handler(() => note),
  create: os.input(type<{ text: string }>()).handler(() => note),
  upload: os.input(type<File>()).handler(() => note),
};
