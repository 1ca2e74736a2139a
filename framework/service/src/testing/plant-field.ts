/**
 * Returns `store` with a field `passwordHash` in every object that its methods resolve with, also in
 * nested ones, for the test that no undeclared field leaves the process.
 */
export function plantField<Store extends object>(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...args: readonly unknown[]) =>
        plant(await Reflect.apply(member, target, args));
    },
  });
}

function plant(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plant);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const planted = Object.entries(value).map(([key, part]) => [key, plant(part)]);
  return { ...Object.fromEntries(planted), passwordHash: 'planted' };
}
