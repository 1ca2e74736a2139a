import type { Row } from './cases.ts';
import type { Target } from './targets.ts';

/** The outcomes of a row that are permitted at `target`, such as `400 close`. */
export function permittedOutcomes([, , , direct, edge = direct]: Row, target: Target): string[] {
  const outcomes = (target.way === 'edge' ? edge : direct).split(' | ');
  return outcomes.flatMap((outcome) => resolve(outcome, target));
}

function resolve(outcome: string, { ok, created }: Target): string[] {
  const text = outcome
    .replace(/\bok\b/g, String(ok))
    .replace(/\bcreated\b/g, String(created))
    .replace(/\d+\+/g, (status) => (ok === 401 ? '401' : status.slice(0, -1)));
  const afterBody = text.replaceAll('*', '');
  const takesPost = created === 201;
  return takesPost || afterBody === text ? [afterBody] : [afterBody, text.replace(/\d+\*/g, '405')];
}
