/** The images to install, from the environment. */
export interface Images {
  /** Prefix of the names of the services' images, such as `registry.example.org/`. */
  readonly imagePrefix: string;
  /** Tag of the services' images. Default: the version of the charts. */
  readonly tag: string;
  /** Images that replace those of the platform chart, such as `local/postgres:17`. */
  readonly images: Readonly<Record<'postgres' | 'valkey' | 'edge', string | undefined>>;
}

/**
 * Reads `IMAGE_PREFIX`, `TAG`, `POSTGRES_IMAGE`, `VALKEY_IMAGE` and `NGINX_IMAGE`.
 *
 * @throws {Error} naming the variable that is not an image with a tag
 */
export function readImages(env: Readonly<Record<string, string | undefined>>): Images {
  const { IMAGE_PREFIX: imagePrefix = '', TAG: tag = '' } = env;
  const image = (name: string) => {
    const value = env[name] || undefined;
    if (value === undefined || /^[^:@\s]+(:\d+\/[^:@\s]+)?:[\w.-]+$/.test(value)) return value;
    throw new Error(`${name} is "${value}": expected an image and its tag, such as nginx:1.30`);
  };
  return {
    imagePrefix,
    tag,
    images: {
      postgres: image('POSTGRES_IMAGE'),
      valkey: image('VALKEY_IMAGE'),
      edge: image('NGINX_IMAGE'),
    },
  };
}

/** The chart values of one image; none if `image` is undefined. */
export function imageValues(image: string | undefined): { image?: object } {
  if (image === undefined) return {};
  // A first part with a dot or a port is the registry: localhost:5000/nginx:1.30.
  const [, registry = '', repository, tag] =
    /^(?:([^/]*[.:][^/]*|localhost)\/)?(.+):([^:]+)$/.exec(image) ?? [];
  return { image: { registry, repository, tag } };
}

/** The chart values of the services' images: `local/` and `dev` give `local/fw-users:dev`. */
export function serviceImage({ imagePrefix, tag }: Images): object {
  return { registry: imagePrefix.replace(/\/$/, ''), tag };
}
