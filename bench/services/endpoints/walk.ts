import type { Ask, ServiceRequest } from '../endpoint.ts';

/** The pages from `path` on, each found by the one before; at most `most` of them. */
export async function walk(
  ask: Ask,
  path: string,
  most: number,
): Promise<readonly ServiceRequest[]> {
  const requests: ServiceRequest[] = [];
  let next: string | undefined = path;
  while (next !== undefined && requests.length < most) {
    const request = { method: 'GET', path: next } as const;
    requests.push(request);
    const { headers } = await ask(request);
    next = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  }
  return requests;
}
