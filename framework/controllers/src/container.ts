import { aFunction, aListOf, oneOf, readOptions } from '@fw/core/options';

/** A class that can be injected. */
export type Type<T extends object = object> = abstract new (...args: never[]) => T;

export interface ServiceOptions {
  /** The types of the constructor parameters. Default: `design:paramtypes`, if emitted. */
  readonly deps?: readonly Type[];
  /** One instance, or one per request. Default `singleton`. */
  readonly scope?: 'singleton' | 'request';
}

/** A class, and the object to inject for it. */
export type Provided = readonly [type: Type, instance: unknown];

const services = new WeakMap<Type, ServiceOptions>();

/**
 * Marks `type` as injectable.
 *
 * @throws {TypeError} if an option is unknown or invalid
 */
export function markService(type: Type, options: ServiceOptions = {}): void {
  readOptions('@Service()', options, {
    deps: aListOf('a list of classes', aFunction),
    scope: oneOf(['singleton', 'request']),
  });
  services.set(type, { ...services.get(type), ...options });
}

type Instances = Map<Type, unknown>;
let injectHere: ((type: Type) => unknown) | undefined;

/**
 * Returns a dependency. Call it in field initialisers and constructors.
 *
 * ```ts
 * class UserController {
 *   readonly users = inject(UserService);
 * }
 * ```
 *
 * @throws {Error} if no class is being created
 */
export function inject<T extends object>(type: Type<T>): T {
  if (!injectHere) {
    throw new Error(`Cannot inject ${nameOf(type)}: expected a class that is being built`);
  }
  return injectHere(type) as T;
}

/** Creates marked classes and their dependencies, once or once per request. */
export class Container {
  readonly #singletons: Instances;

  constructor(provided: Iterable<Provided> = []) {
    this.#singletons = new Map(provided);
  }

  /** Whether `type` has the scope `request` and no instance was provided. */
  isOfRequest(type: Type): boolean {
    return !this.#singletons.has(type) && services.get(type)?.scope === 'request';
  }

  /**
   * Returns the instance of `type`, for one request or for all.
   *
   * @throws {Error} with the chain, if a dependency is missing, circular or has a shorter lifetime
   */
  resolve<T extends object>(type: Type<T>): T {
    return this.#resolve(type, { chain: [], ofRequest: new Map() }) as T;
  }

  #resolve(
    type: Type,
    { chain: before, ofRequest }: { chain: readonly Type[]; ofRequest: Instances },
  ): unknown {
    const chain = [...before, type];
    const isOfRequest = this.isOfRequest(type);
    if (isOfRequest) rejectCaptive(chain, (above) => this.isOfRequest(above));
    const instances = isOfRequest ? ofRequest : this.#singletons;
    if (instances.has(type)) return instances.get(type);
    if (before.includes(type)) throw new Error(`Circular dependency: ${nameAll(chain)}`);
    const build = constructorOf(type, chain);
    const outside = injectHere;
    const resolve = (dependency: Type) => this.#resolve(dependency, { chain, ofRequest });
    try {
      injectHere = resolve;
      const instance: unknown = Reflect.construct(build, dependenciesOf(type, chain).map(resolve));
      instances.set(type, instance);
      return instance;
    } finally {
      injectHere = outside;
    }
  }
}

/** A singleton would keep the instance of the first request. */
function rejectCaptive(chain: readonly Type[], isOfRequest: (type: Type) => boolean): void {
  const keeper = chain.slice(0, -1).find((type) => !isOfRequest(type));
  if (keeper === undefined) return;
  throw new Error(
    `Cannot build ${nameAll(chain)}: ${nameOf(keeper)} is built once, expected scope "request" as of ${nameOf(chain.at(-1))}`,
  );
}

// biome-ignore lint/complexity/noBannedTypes: the parameter type of Reflect.construct
function constructorOf(type: Type, chain: readonly Type[]): Function {
  if (isService(type)) return type;
  throw new Error(
    `Missing dependency: ${nameAll(chain)}: expected ${nameOf(type)} to be a class marked with @Service or @Controller`,
  );
}

function dependenciesOf(type: Type, chain: readonly Type[]): readonly Type[] {
  const deps = declaredDeps(type) ?? emittedDeps(type);
  if (deps.length < type.length) {
    throw new Error(
      `Missing dependency: ${nameAll(chain)}: expected @Service({ deps }) to name the ${type.length} arguments of its constructor, or inject()`,
    );
  }
  return deps;
}

/** The emitted metadata, if a library such as reflect-metadata stores it. */
function emittedDeps(type: Type): readonly Type[] {
  const getMetadata: unknown = Reflect.get(Reflect, 'getMetadata');
  const emitted: unknown =
    typeof getMetadata === 'function' ? getMetadata('design:paramtypes', type) : undefined;
  return Array.isArray(emitted) ? emitted : [];
}

/** The options of `@Service` on `type`, or on the class whose constructor it inherits. */
function declaredDeps(type: Type): readonly Type[] | undefined {
  const own = services.get(type)?.deps;
  const base: unknown = Object.getPrototypeOf(type);
  const isInherited = type.length === 0 && isService(base);
  return own ?? (isInherited ? declaredDeps(base) : undefined);
}

function isService(type: unknown): type is Type {
  return typeof type === 'function' && services.has(type as unknown as Type);
}

function nameAll(chain: readonly unknown[]): string {
  return chain.map(nameOf).join(' → ');
}

function nameOf(type: unknown): string {
  return typeof type === 'function' ? type.name || 'an anonymous class' : String(type);
}
