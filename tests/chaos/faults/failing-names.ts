import dns from 'node:dns';
import { readFileSync } from 'node:fs';

type Lookup = (
  name: string,
  options: dns.LookupOptions,
  callback: (error: Error | null, ...address: unknown[]) => void,
) => void;

/**
 * Loaded into a service by `node --import`: the names `*.test` are this machine, except those in the file
 * `FAILING_NAMES`, one per line, which cannot be looked up.
 */
const { FAILING_NAMES = '' } = process.env;
const original = { lookup: dns.lookup as Lookup, promises: dns.promises.lookup };

function failureOf(name: string): Error | undefined {
  if (!readFileSync(FAILING_NAMES, 'utf8').split('\n').includes(name)) return undefined;
  const error = new Error(`getaddrinfo EAI_AGAIN ${name}`);
  return Object.assign(error, { code: 'EAI_AGAIN', syscall: 'getaddrinfo' });
}

const addressOf = (name: string) => (name.endsWith('.test') ? '127.0.0.1' : name);

function lookup(...[name, options, callback]: Parameters<Lookup>): void {
  const failure = failureOf(name);
  if (failure) setImmediate(callback, failure);
  else original.lookup(addressOf(name), options, callback);
}

async function lookupLater(name: string, options: dns.LookupOptions = {}): Promise<unknown> {
  const failure = failureOf(name);
  if (failure) throw failure;
  return original.promises(addressOf(name), options);
}

Object.assign(dns, { lookup });
Object.assign(dns.promises, { lookup: lookupLater });
