/** One version of an API. */
export interface ApiVersion {
  /** Its name in metrics and messages, such as `v1`. */
  readonly name: string;
  /** Its path prefix, such as `/api/v1/users`. */
  readonly path: string;
  /** Set if a newer version replaces this one. */
  readonly deprecated?: VersionDeprecation;
  /** Whether the version is no longer served: its paths respond with 410. Default false. */
  readonly isRemoved?: boolean;
}

/** When a version becomes deprecated and ends, and what replaces it. */
export interface VersionDeprecation {
  readonly since: Date;
  /** From when on the version may stop responding. Default: no end is announced. */
  readonly sunset?: Date | undefined;
  /** The path prefix of the version that replaces it. */
  readonly successor: string;
}
