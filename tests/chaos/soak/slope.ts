/** A value at a time. */
export interface Sample {
  readonly hours: number;
  readonly value: number;
}

/** A fitted slope, in units of the value per hour, with its standard error. */
export interface Slope {
  readonly perHour: number;
  readonly error: number;
}

/**
 * Fits a line to `samples`, which have equal distances in time, by ordinary least squares. Memory that was
 * high in one sample is high in the next one too, so the usual standard error would be far too small. This
 * one is robust to autocorrelation: Newey and West (1987), with the bandwidth 1.3·√n that Lazarus, Lewis,
 * Stock and Watson (2018) recommend.
 *
 * @throws {RangeError} if there are fewer than 3 samples
 */
export function fitSlope(samples: readonly Sample[]): Slope {
  const count = samples.length;
  if (count < 3) throw new RangeError(`Cannot fit a line to ${count} samples: expected at least 3`);
  const hours = centered(samples.map((sample) => sample.hours));
  const values = centered(samples.map(({ value }) => value));
  const spread = dot(hours, hours);
  const perHour = dot(hours, values) / spread;
  const scores = hours.map((hour, index) => hour * (values[index]! - perHour * hour));
  const variance = longRunVariance(scores) / spread ** 2;
  // The factor corrects for the two parameters that were fitted.
  return { perHour, error: Math.sqrt((variance * count) / (count - 2)) };
}

/** The sum of the autocovariances of `scores`, with the weights of Bartlett: never negative. */
function longRunVariance(scores: readonly number[]): number {
  const bandwidth = Math.ceil(1.3 * Math.sqrt(scores.length));
  let sum = dot(scores, scores);
  for (let lag = 1; lag <= bandwidth; lag++) {
    sum += 2 * (1 - lag / (bandwidth + 1)) * dot(scores, scores.slice(lag));
  }
  return sum;
}

function centered(values: readonly number[]): number[] {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.map((value) => value - mean);
}

/** The products of the values at the same index, added up as far as both go. */
function dot(one: readonly number[], other: readonly number[]): number {
  const length = Math.min(one.length, other.length);
  let sum = 0;
  for (let index = 0; index < length; index++) sum += one[index]! * other[index]!;
  return sum;
}
