/** Path prefix of version 1. */
export const V1 = '/api/v1/users';

/** Path prefix of version 2. */
export const V2 = '/api/v2/users';
