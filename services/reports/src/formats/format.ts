const formats = new Map<string, Intl.NumberFormat>();

/** `1,234`. */
export function formatCount(count: number): string {
  return numberFormat('count', {}).format(count);
}

/** `€12.34`, from cents. */
export function formatMoney(cents: number, currency: string): string {
  return numberFormat(currency, { style: 'currency', currency }).format(cents / 100);
}

/** `1.2M`: compact, for the scale of a chart. */
export function formatTick(count: number): string {
  return numberFormat('tick', { notation: 'compact' }).format(count);
}

/** `€10K`, from cents: compact, for the scale of a chart. */
export function formatMoneyTick(cents: number, currency: string): string {
  const options = { style: 'currency', currency, notation: 'compact' } as const;
  return numberFormat(`${currency} tick`, options).format(cents / 100);
}

/** `3 Nov`, from `2026-11-03`. */
export function formatDay(date: string): string {
  const [, month = 1, day = 1] = date.split('-').map(Number);
  return `${day} ${MONTHS[month - 1]}`;
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** Created once per key: creating a formatter is slow. */
function numberFormat(key: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const format = formats.get(key) ?? new Intl.NumberFormat('en', options);
  formats.set(key, format);
  return format;
}
