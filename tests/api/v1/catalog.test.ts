import { describeCatalogV1 } from '../../../services/catalog/src/v1.test-suite.ts';
import { readTarget } from '../target.ts';

const { api } = readTarget();

describeCatalogV1(api.send);
