/** The preferred form, that of RFC 850, and that of `asctime()`. */
const FORMS = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\d\d) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\d\d)-(?<month>[A-Z][a-z]{2})-(?<year>\d\d) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>\d\d:\d\d:\d\d) (?<year>\d{4})$/,
];

const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec';

/**
 * Reads an HTTP date (RFC 9110 §5.6.7), in milliseconds; NaN for any other text. A wrong day of the week
 * is ignored, and a leap second is the second before it.
 */
export function readHttpDate(text: string, nowMs = Date.now()): number {
  const match = FORMS.map((form) => form.exec(text)).find(Boolean);
  const { day = '', month = '', year = '', time = '' } = match?.groups ?? {};
  const number = String(MONTHS.indexOf(month) / 3 + 1).padStart(2, '0');
  const second = time.replace('23:59:60', '23:59:59');
  const rest = `-${number}-${day.replace(' ', '0')}T${second}.000Z`;
  const iso = (year.length === 2 ? lastYear(year, { rest, nowMs }) : year) + rest;
  const date = new Date(iso);
  return date.toJSON() === iso ? date.getTime() : Number.NaN; // 30 Feb would be a day in March
}

/** The last year with these two digits in which the date is at most 50 years after now. */
function lastYear(digits: string, { rest, nowMs }: { rest: string; nowMs: number }): number {
  const now = new Date(nowMs).toISOString();
  const last = Number(now.slice(0, 4)) + (rest > now.slice(4) ? 49 : 50);
  return last - ((last - Number(digits)) % 100);
}
