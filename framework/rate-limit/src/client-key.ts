import { isIPv6 } from 'node:net';

/**
 * The default key of the client at `ip`: an IPv4 address itself, also if an IPv6 address contains it (mapped,
 * RFC 4291 §2.5.5.2; translated by NAT64, RFC 6052 §2.1); for another IPv6 address its subnet, because one
 * client can use every address of a subnet.
 *
 * @param ipv6Subnet bits of the prefix. Default 64, the usual size for one site (RFC 6177).
 */
export function clientKey(ip: string, ipv6Subnet = 64): string {
  if (!ip.includes(':') || !isIPv6(ip)) return ip;
  const address = readGroups(ip);
  if (containsIPv4(address)) return toIPv4(address);
  if (ipv6Subnet === 128) return ip;
  const groups = address.map((group, at) => {
    const bits = Math.min(16, Math.max(0, ipv6Subnet - at * 16));
    return group & (0xffff << (16 - bits));
  });
  const kept = groups.slice(0, Math.ceil(ipv6Subnet / 16));
  const prefix = kept.map((group) => group.toString(16)).join(':');
  return `${prefix}${kept.length < 8 ? '::' : ''}/${ipv6Subnet}`;
}

/** ::ffff:0:0/96 and 64:ff9b::/96. */
const IPV4_PREFIXES = ['0,0,0,0,0,65535', '100,65435,0,0,0,0'];

function containsIPv4(groups: readonly number[]): boolean {
  return IPV4_PREFIXES.includes(groups.slice(0, 6).join());
}

function toIPv4(groups: readonly number[]): string {
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.');
}

/** The eight groups of a valid IPv6 address. */
function readGroups(ip: string): number[] {
  const [address = ''] = ip.split('%');
  // A URL contains it in one form: without an IPv4 address in the last two groups (RFC 4291 §2.2).
  const { hostname } = new URL(`http://[${address}]`);
  const [head = '', tail] = hostname.slice(1, -1).split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail ? tail.split(':') : [];
  const missing = 8 - before.length - after.length;
  return [...before, ...Array<string>(missing).fill('0'), ...after].map((group) =>
    Number.parseInt(group, 16),
  );
}
