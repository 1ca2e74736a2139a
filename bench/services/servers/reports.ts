import { rateLimit } from '@fw/rate-limit';
import { createReportsApp } from '@fw/reports/src/app.ts';
import { jwtVerifier } from '@fw/reports/src/jwt.ts';
import { createLimits } from '@fw/reports/src/limits.ts';
import { figuresReader } from '@fw/reports/src/read-figures.ts';
import { createServiceClient } from '@fw/service';

import type { Settings } from '../contestant.ts';
import { SECRET } from '../endpoints/reports.ts';
import { type ReportSources, reportRoutes } from '../peers/reports.ts';
import type { Subject } from './serve.ts';

/** More requests a minute than any contestant answers. */
const MAX = 1_000_000_000;

async function openSources({ figuresUrl: baseUrl }: Settings): Promise<ReportSources> {
  const verify = jwtVerifier({ keys: { secret: SECRET }, issuer: 'fw', audience: 'reports' });
  const readFigures = figuresReader({
    users: createServiceClient({ name: 'users', baseUrl }),
    catalog: createServiceClient({ name: 'catalog', baseUrl }),
  });
  return { verify, readFigures, max: MAX };
}

/** The reports service on both frameworks. */
export const subject: Subject<ReportSources> = {
  openStore: openSources,
  createApp: ({ verify, readFigures, max }, edge) => {
    const { v2, invalidTokens } = createLimits({ perMinute: { free: max, pro: max } });
    const keyGenerator = ({ state, ip }: { state: { user?: { id: string } }; ip: string }) =>
      state.user ? `user:${state.user.id}` : `ip:${ip}`;
    const v1 = rateLimit({ max, window: '1m', name: 'reports-v1', keyGenerator });
    return createReportsApp({ ...edge, verify, readFigures, limits: { invalidTokens, v1, v2 } });
  },
  peer: reportRoutes,
};
