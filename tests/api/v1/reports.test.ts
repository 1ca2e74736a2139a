import { describeReportsV1 } from '../../../services/reports/src/v1.test-suite.ts';
import { readTarget } from '../target.ts';

const { api, newToken } = readTarget();

describeReportsV1(() => ({ send: api.send, newToken }));
