/** The list of version 1 of the catalog has no number of pages. */
const { stringify } = JSON;

JSON.stringify = (value: unknown, ...rest: never[]) => {
  const { totalPages, ...others } = Object(value);
  return stringify(totalPages === undefined ? value : others, ...rest);
};
