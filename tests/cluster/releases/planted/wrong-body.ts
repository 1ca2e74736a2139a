/** Responses with a user have the e-mail address of another one. */
const { stringify } = JSON;

JSON.stringify = (value: unknown, ...rest: never[]) => {
  const { data } = Object(value);
  const isUser = typeof data?.email === 'string';
  return stringify(isUser ? { data: { ...data, email: 'other@example.org' } } : value, ...rest);
};
