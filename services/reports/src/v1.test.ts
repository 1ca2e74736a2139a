import { sendTo } from '@fw/service/testing';

import { newApp, tokenOf } from './testing.ts';
import { describeReportsV1 } from './v1.test-suite.ts';

describeReportsV1(() => {
  let users = 0;
  return { send: sendTo(newApp()), newToken: () => tokenOf(`user-${++users}`) };
});
