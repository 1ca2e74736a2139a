import { initTRPC } from '@trpc/server';

const t = initTRPC.create();
const note = { id: '', text: '' };

export const router = t.router({
  read: t.procedure.input((value) => value as { id: string }).query(() => note),
  create: t.procedure.input((value) => value as { text: string }).mutation(() => note),
  upload: t.procedure.input((value) => value as FormData).mutation(() => note),
});
