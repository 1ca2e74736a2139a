import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { transformSync } from 'esbuild';

import type { Contestant } from '../contestant.ts';

const MODULE = new URL('../controllers/nest/user-module.ts', import.meta.url).href;

/** Nest with its adapter for Fastify, a compiled router and a response schema. */
export const contestant: Contestant = {
  packages: ['@nestjs/core', '@nestjs/platform-fastify'],
  routes: ['controller'],
  over: 'fastify',
  async start() {
    // Node strips types but does not compile decorators.
    registerHooks({
      load(url, context, nextLoad) {
        if (url !== MODULE) return nextLoad(url, context);
        const { code } = transformSync(readFileSync(fileURLToPath(url), 'utf8'), {
          loader: 'ts',
          tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
        });
        return { format: 'module', source: code, shortCircuit: true };
      },
    });
    const { UserModule }: typeof import('../controllers/nest/user-module.ts') = await import(
      MODULE
    );
    const app = await NestFactory.create<NestFastifyApplication>(
      UserModule,
      new FastifyAdapter({ logger: false, routerOptions: { compile: true } }),
      { logger: false },
    );
    await app.listen(0, '127.0.0.1');
    return app.getHttpServer();
  },
};
