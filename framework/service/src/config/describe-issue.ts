import type * as z from 'zod';

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'a boolean',
  date: 'a date',
};

/** What the length of a value counts. */
const UNITS: Readonly<Record<string, string>> = { string: 'character', array: 'item', set: 'item' };

/**
 * Describes an issue of a variable whose schema has no message of its own, as the end of a sentence that
 * begins with the name: zod's messages are sentences of their own.
 */
export function describeIssue(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`;
    case 'too_small':
      return describeLimit(issue, issue.inclusive ? 'at least' : 'more than', issue.minimum);
    case 'too_big':
      return describeLimit(issue, issue.inclusive ? 'at most' : 'less than', issue.maximum);
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return describeFormat(issue);
    default:
      return 'must be a value that its schema accepts';
  }
}

function describeLimit(
  { origin }: { readonly origin: string },
  relation: string,
  limit: number | bigint,
): string {
  const unit = UNITS[origin];
  if (unit === undefined) return `must be ${relation} ${limit}`;
  return `must have ${relation} ${limit} ${unit}${Number(limit) === 1 ? '' : 's'}`;
}

function describeFormat({
  format,
  ...details
}: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidStringFormat>): string {
  switch (format) {
    case 'starts_with':
      return `must begin with "${details.prefix}"`;
    case 'ends_with':
      return `must end with "${details.suffix}"`;
    case 'includes':
      return `must contain "${details.includes}"`;
    case 'regex':
      return `must match ${details.pattern}`;
    case 'url':
      return 'must be a URL';
    default:
      return `must be of the format ${format}`;
  }
}
