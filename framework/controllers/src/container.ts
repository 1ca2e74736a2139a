import { aFunction, aListOf, oneOf, readOptions } from '@fw/core/options';

/** A class that can be asked for. */
export type Type<T extends object = object> = abstract new (...args: never[]) => T;

export interface ServiceOptions {
  /** What the constructor takes, in order. Default: what `design:paramtypes` says, where it is emitted. */
  readonly deps?: readonly Type[];
  /** Built once, or once for each request. Default `singleton`. */
  readonly scope?: 'singleton' | 'request';
}

/** A class, and the object to use wherever it is asked for. */
export type Provided = readonly [type: Type, instance: unknown];

const services = new WeakMap<Type, ServiceOptions>();

/**
 * Marks `type` as one that may be built.
 *
 * @throws {TypeError} if an option is unknown or has a value that it cannot have
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
 * A dependency of the class that is being built: for its fields and its constructor.
 *
 * ```ts
 * class UserController {
 *   readonly users = inject(UserService);
 * }
 * ```
 *
 * @throws {Error} if nothing is being built
 */
export function inject<T extends object>(type: Type<T>): T {
  if (!injectHere) {
    throw new Error(`Cannot inject ${nameOf(type)}: expected a class that is being built`);
  }
  return injectHere(type) as T;
}

/** Builds marked classes with all that they depend on, each of them once or once for each request. */
export class Container {
  readonly #singletons: Instances;

  constructor(provided: Iterable<Provided> = []) {
    this.#singletons = new Map(provided);
  }

  /** Whether building `type` takes a new instance for each request. */
  isOfRequest(type: Type): boolean {
    return !this.#singletons.has(type) && services.get(type)?.scope === 'request';
  }

  /**
   * The instance of `type` for one request, or for all of them.
   *
   * @throws {Error} naming the chain, if a dependency is missing, circular or of too short a life
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
    if (isOfRequest) refuseCaptive(chain, (above) => this.isOfRequest(above));
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

/** A singleton would keep the first request's instance for ever. */
function refuseCaptive(chain: readonly Type[], isOfRequest: (type: Type) => boolean): void {
  const keeper = chain.slice(0, -1).find((type) => !isOfRequest(type));
  if (keeper === undefined) return;
  throw new Error(
    `Cannot build ${nameAll(chain)}: ${nameOf(keeper)} is built once, expected scope "request" as of ${nameOf(chain.at(-1))}`,
  );
}

// biome-ignore lint/complexity/noBannedTypes: what Reflect.construct takes
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

/** What the compiler emitted, if it did and a library such as reflect-metadata keeps it. */
function emittedDeps(type: Type): readonly Type[] {
  const getMetadata: unknown = Reflect.get(Reflect, 'getMetadata');
  const emitted: unknown =
    typeof getMetadata === 'function' ? getMetadata('design:paramtypes', type) : undefined;
  return Array.isArray(emitted) ? emitted : [];
}

/** What `@Service` says of `type`, or of the class whose constructor it inherits. */
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
