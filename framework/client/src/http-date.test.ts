import { testHttpDates } from '../../middleware/src/testing/http-dates.ts';
import { readHttpDate } from './http-date.ts';

testHttpDates(readHttpDate);
