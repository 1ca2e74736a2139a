import { describeUsersV1 } from '../../../services/users/src/v1.test-suite.ts';
import { readTarget } from '../target.ts';

const { api } = readTarget();

describeUsersV1(() => api.send);
