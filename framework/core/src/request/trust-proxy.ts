import { BlockList, isIP, isIPv4, isIPv6, SocketAddress } from 'node:net';

import { check } from '../options.ts';
import { trimBlanks } from './media-type.ts';

/** `false`, the number of proxies before this server, or their networks (`10.0.0.0/8`). */
export type TrustProxy = false | number | readonly string[];

/** Whether the proxy at `address` is trusted; `hop` 0 is the proxy connected to this server. */
export type IsTrusted = (address: string, hop: number) => boolean;

/** Check of the option `trustProxy`. Rejects `true`, with which every client could choose its address. */
export const aTrustProxy = check(
  'false, a number of hops or a list of networks such as "10.0.0.0/8"',
  (value) =>
    value === false ||
    (Number.isSafeInteger(value) && Number(value) >= 0) ||
    (Array.isArray(value) && value.every((network) => readNetwork(network))),
);

/** Converts the option `trustProxy` to a test of addresses. */
export function readTrustProxy(option: TrustProxy): IsTrusted {
  if (option === false) return () => false;
  if (typeof option === 'number') return (_address, hop) => hop < option;
  const list = new BlockList();
  for (const { address, length, family } of option.flatMap((text) => readNetwork(text) ?? [])) {
    list.addSubnet(address, length, family);
  }
  return (address) => list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

interface Network {
  readonly address: string;
  readonly length: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** An address, or a network such as `10.0.0.0/8`; `undefined` for any other value. */
function readNetwork(network: unknown): Network | undefined {
  const [address = '', prefix, ...rest] = String(network).split('/');
  const version = isIP(address);
  const bits = version === 6 ? 128 : 32;
  const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
  if (version === 0 || length < 0 || length > bits || rest.length > 0) return undefined;
  return { address, length, family: version === 6 ? 'ipv6' : 'ipv4' };
}

/** The client's address, and how many of the last entries of `X-Forwarded-*` trusted proxies wrote. */
export interface Forwarding {
  readonly ip: string;
  readonly hops: number;
}

/** Reads `X-Forwarded-For` from the right, from this server to the client. */
export function readForwarding(
  remote: string | undefined,
  forwardedFor: string | undefined,
  isTrusted: IsTrusted,
): Forwarding {
  const claims = forwardedFor?.split(',') ?? [];
  let ip = plainAddress(remote ?? '');
  let hops = 0;
  while (isTrusted(ip, hops)) {
    hops++;
    const claim = claims[claims.length - hops];
    const address = claim === undefined ? '' : plainAddress(trimBlanks(claim));
    if (isIP(address) === 0) break;
    ip = address;
  }
  return { ip, hops };
}

/** The addresses that `hops` trusted proxies, at least one, reported, that of the client first. */
export function forwardedAddresses(header: string | undefined, hops: number): readonly string[] {
  const entries = header?.split(',').slice(-hops) ?? [];
  return entries.map((entry) => plainAddress(trimBlanks(entry))).filter((one) => isIP(one) !== 0);
}

/** The entry that the outermost of `hops` trusted proxies, at least one, wrote. */
export function forwardedEntry(header: string | undefined, hops: number): string | undefined {
  if (header === undefined) return undefined;
  const entries = header.split(',');
  const entry = entries[Math.max(0, entries.length - hops)];
  return entry && trimBlanks(entry);
}

/**
 * An address without port, brackets or zone, in the canonical form of RFC 5952. Returns IPv4-mapped
 * addresses as IPv4 (RFC 4291 §2.5.5.2).
 */
function plainAddress(text: string): string {
  if (!text.includes(':')) return text;
  // First, because a server that listens on both IPv4 and IPv6 gets this form for each IPv4 client.
  const mapped = mappedIpv4(text);
  if (mapped !== undefined) return mapped;
  const inBrackets = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1];
  const withoutPort =
    inBrackets ?? (/^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(':')) : text);
  if (!isIPv6(withoutPort)) return withoutPort;
  const [address = ''] = withoutPort.split('%');
  const canonical = new SocketAddress({ address, family: 'ipv6' }).address;
  return mappedIpv4(canonical) ?? canonical;
}

/** The IPv4 address in an IPv4-mapped one in canonical form; `undefined` for any other text. */
function mappedIpv4(text: string): string | undefined {
  const rest = text.startsWith('::ffff:') ? text.slice('::ffff:'.length) : '';
  return isIPv4(rest) ? rest : undefined;
}
