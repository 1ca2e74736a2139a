import type { ClaimStore, TransactionStore } from '@fw/middleware/idempotency';

/** Bugs that the test must find. */
export const CLAIM_BUGS = {
  'a claim does not exclude others': (store) => ({
    ...store,
    claim: async (attempt) => {
      const saved = await store.claim(attempt);
      return saved?.response === undefined ? undefined : saved;
    },
  }),
  'a response is forgotten': (store) => ({
    ...store,
    finish: async (attempt) => {
      await store.release(attempt);
      return true;
    },
  }),
  'a failure is stored': (store) => ({
    ...store,
    release: (attempt) => store.finish(attempt, '[500,[],"utf8","{}"]'),
  }),
  'the fingerprint is ignored': (store) => ({
    ...store,
    claim: async (attempt) => {
      const saved = await store.claim(attempt);
      return saved && { ...saved, fingerprint: attempt.fingerprint };
    },
  }),
} satisfies Record<string, (store: ClaimStore) => ClaimStore>;

/** A store with transactions, and how the harness runs one that `save` can use. */
export interface Transactional<Transaction> {
  readonly store: TransactionStore<Transaction>;
  transact(work: (transaction: Transaction) => void | Promise<void>): Promise<void>;
}

type TransactionBug = <T>(part: Transactional<T>) => TransactionStore<T>;

export const TRANSACTION_BUGS = {
  'the response is not in the transaction': ({ store, transact }) => ({
    ...store,
    save: (_transaction, attempt, response) => {
      transact((own) => store.save(own, attempt, response)).catch(() => {});
    },
  }),
  'a response is forgotten': ({ store }) => ({ ...store, save: () => {} }),
  'a committed key does not roll back': ({ store }) => ({
    ...store,
    save: async (transaction, attempt, response) => {
      await Promise.try(() => store.save(transaction, attempt, response)).catch(() => {});
    },
  }),
  'the fingerprint is ignored': ({ store }) => ({
    ...store,
    find: async (attempt) => {
      const saved = await store.find(attempt);
      return saved && { ...saved, fingerprint: attempt.fingerprint };
    },
  }),
} satisfies Record<string, TransactionBug>;
