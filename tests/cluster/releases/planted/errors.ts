/** One of ten responses with data cannot be written: 500. */
const { stringify } = JSON;
let responses = 0;

JSON.stringify = (value: unknown, ...rest: never[]) => {
  const isResponse = typeof value === 'object' && value !== null && 'data' in value;
  if (isResponse && ++responses % 10 === 0) throw new Error('Planted error');
  return stringify(value, ...rest);
};
