import { testHttpDates } from '../testing/http-dates.ts';
import { readHttpDate } from './http-date.ts';

testHttpDates(readHttpDate);
