import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ensureTool } from '../../../tools/programs.ts';
import { type Certificate, writeSecretVolume } from '../../local/testing/certificate.ts';
import { freePort } from '../../local/testing/ports.ts';
import { startProgram } from '../../local/testing/program.ts';
import { only, type Rendered } from './render.ts';

/** nginx that runs with the rendered configuration. */
export interface RenderedEdge {
  readonly port: number;
  /** The port of TLS, if the values select a Secret. */
  readonly tlsPort: number;
  /** The folder that replaces the pod's folder. */
  readonly prefix: string;
  stop(): Promise<void>;
}

export interface RenderedEdgeOptions {
  /** The rendered platform, a release called `fw`. */
  readonly objects: readonly Rendered[];
  /** The port of the service users on this machine; the others are unavailable. */
  readonly users: number;
  readonly certificate?: Certificate;
}

/** Starts the container command of the edge in a folder of this machine, and waits until it responds. */
export async function startRenderedEdge(options: RenderedEdgeOptions): Promise<RenderedEdge> {
  const { objects, users, certificate } = options;
  const [port, tlsPort] = [await freePort(), await freePort()];
  const prefix = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-edge-'));
  const nginx = ensureTool('nginx');
  const files: Record<string, string> = only(objects, 'ConfigMap', 'fw-edge').data;
  fs.mkdirSync(path.join(prefix, 'conf'));
  for (const [name, text] of Object.entries(files)) {
    const local = text
      .replace('listen 8080;', `listen 127.0.0.1:${port};`)
      .replace('listen 8443 ssl;\nhttp2 on;', listenTls(nginx, tlsPort))
      .replaceAll('/edge/', `${prefix}/`)
      .replaceAll(
        /server fw-(\w+):80/g,
        (_, name) => `server 127.0.0.1:${name === 'users' ? users : 1}`,
      );
    fs.writeFileSync(path.join(prefix, 'conf', name), local);
  }
  const page: Record<string, string> = only(objects, 'ConfigMap', 'fw-edge-page').data;
  fs.mkdirSync(path.join(prefix, 'page'));
  for (const [name, text] of Object.entries(page)) {
    fs.writeFileSync(path.join(prefix, 'page', name), text);
  }
  if (certificate) writeSecretVolume(path.join(prefix, 'tls'), { ...certificate });

  const [container] = only(objects, 'Deployment', 'fw-edge').spec.template.spec.containers;
  const command: string[] = container.command.map((one: string) =>
    one.replaceAll('/edge', prefix).replace(/^nginx$/, nginx),
  );
  const asRoot = process.getuid?.() === 0 ? ['-g', 'user root root;'] : [];
  const nginxProcess = await startProgram([...command, ...asRoot], {
    ready: `http://127.0.0.1:${port}/page/index.html`,
  });
  return {
    port,
    tlsPort,
    prefix,
    async stop() {
      await nginxProcess.stop('SIGQUIT');
      fs.rmSync(prefix, { recursive: true });
    },
  };
}

/** The lines for TLS: nginx before 1.25.1 has no directive `http2`. */
function listenTls(nginx: string, port: number): string {
  const { stderr } = spawnSync(nginx, ['-v'], { encoding: 'utf8' });
  const [, major = 0, minor = 0, patch = 0] = /(\d+)\.(\d+)\.(\d+)/.exec(stderr)?.map(Number) ?? [];
  const hasDirective = major * 1e6 + minor * 1e3 + patch >= 1_025_001;
  const address = `127.0.0.1:${port} ssl`;
  return hasDirective ? `listen ${address};\nhttp2 on;` : `listen ${address} http2;`;
}
