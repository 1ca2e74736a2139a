export * from '@fw/core/router';
