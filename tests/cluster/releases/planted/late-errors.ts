/** One of 25 responses with data cannot be written, from 60 s after the start: the trial has passed by then if the start takes less than 30 s. */
const { stringify } = JSON;
let responses = 0;

JSON.stringify = (value: unknown, ...rest: never[]) => {
  const isResponse = typeof value === 'object' && value !== null && 'data' in value;
  const isLate = process.uptime() > 60;
  if (isResponse && isLate && ++responses % 25 === 0) throw new Error('Planted error');
  return stringify(value, ...rest);
};
