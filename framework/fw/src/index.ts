export * from '@fw/core';
export * from '@fw/errors';
export * from '@fw/router';
