import { readHttpDate } from './http-date.ts';
import { testHttpDates } from './testing/http-dates.ts';

testHttpDates(readHttpDate);
