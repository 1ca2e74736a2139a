export * from '@fw/core';
export * from '@fw/errors';
