import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { runProgram } from '../../deploy/local/cluster/program.ts';
import { folders } from '../../deploy/local/state.ts';
import { SERVICE_NAMES } from '../../services/services.ts';
import { scriptOf, startRegistry, type TestRegistry } from './registry.ts';

const tag = `0.1.0-${randomUUID().slice(0, 8)}`;
const charts = path.join(folders.root, 'deploy/charts');
let registry: TestRegistry;
let published: string;

/** Runs a script in the folder of the registry. */
const shell = (script: string) =>
  runProgram('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: registry.folder,
    env: registry.env,
  });
const readme = () => shell(scriptOf('cosign verify', registry, tag));

beforeAll(async () => {
  registry = await startRegistry();
  published = await registry.publish(tag);
}, 600_000);

afterAll(() => registry[Symbol.asyncDispose](), 60_000);

test('make publish pushes images and charts, whose images are these digests', async () => {
  const references = [...published.matchAll(/^\S+@sha256:\w{64}$/gm)].map(([line]) => line);
  const images = references.filter((line) => line.includes('/fw-'));

  const rendered = await shell(`helm template oci://${references.at(-1)} --plain-http`);

  expect(references).toHaveLength(2 * SERVICE_NAMES.length + 3);
  for (const image of images)
    expect(rendered).toContain(`image: "${image.replace('@', `:${tag}@`)}"`);
});

test('the commands of deploy/README.md verify signature, provenance and SBOM, of which there is one', async () => {
  const output = await readme();

  const statements = [...output.matchAll(/^\{.*"payload":"([^"]+)".*$/gm)].map(([, payload = '']) =>
    JSON.parse(Buffer.from(payload, 'base64').toString()),
  );
  const types = statements.map(({ predicateType }) => predicateType);
  expect(types).toEqual(['https://slsa.dev/provenance/v1', 'https://cyclonedx.org/bom']);
  expect(statements[0].predicate.buildDefinition.externalParameters.artefact).toBe(
    `${registry.name}/fw-users`,
  );
  expect(JSON.stringify(statements[1].predicate)).toContain('pkg:npm/pino');
  const signatures =
    await shell(`cosign verify-attestation --key cosign.pub --insecure-ignore-tlog \
    --type https://sigstore.dev/cosign/sign/v1 ${registry.name}/charts/users:${tag} 2>&-`);
  expect(signatures.trim().split('\n')).toHaveLength(1);
});

test('publishing a build again, also after an interruption, changes nothing', async () => {
  const before = registry.content();

  await expect(registry.publish(tag)).resolves.toContain('Nothing to do');
  expect(registry.content()).toEqual(before);

  const platform = `data/docker/registry/v2/repositories/fw/charts/platform/_manifests/tags/${tag}`;
  fs.rmSync(path.join(registry.folder, platform), { recursive: true });
  await expect(registry.publish(tag)).resolves.toBe(published);
  expect(registry.content()).toEqual(before);
});

test('a version that another build has published is rejected, and stays', async () => {
  const other = `${tag}-other`;
  await shell(`helm package "${charts}/platform" --version ${other}
    helm push platform-${other}.tgz oci://${registry.name}/charts --plain-http`);
  const before = registry.content();

  await expect(registry.publish(other)).rejects.toThrow(
    /TAG is "\S+": this version is published from commit unknown/,
  );

  expect(registry.content()).toEqual(before);
});

test('a wrong key, a changed image and a chart with another digest are rejected', async () => {
  const [image, chart] = [`${registry.name}/fw-users:${tag}`, `${registry.name}/charts/users`];
  await readme();
  const restore = registry.content();
  onTestFinished(() => {
    const root = path.join(registry.folder, 'data/docker/registry/v2/repositories');
    for (const [name, digest] of Object.entries(restore))
      fs.writeFileSync(path.join(root, name), digest);
  });
  const verify = (reference: string, key = 'cosign.pub') =>
    shell(`cosign verify --key ${key} --insecure-ignore-tlog ${reference}`);

  await shell('cosign generate-key-pair --output-key-prefix stranger');
  await expect(verify(image, 'stranger.pub')).rejects.toThrow('could not verify envelope');

  await shell(`echo 'FROM ${image}\nLABEL changed=1' | docker build --tag ${image} -
    docker push ${image}`);
  await expect(verify(image)).rejects.toThrow('no signatures found');

  await shell(`helm pull oci://${chart} --version ${tag} --plain-http --untar
    sed -i 's/digest: sha256:..../digest: sha256:0000/' users/values.yaml
    helm package users && helm push users-${tag}.tgz oci://${registry.name}/charts --plain-http`);
  await expect(verify(`${chart}:${tag}`)).rejects.toThrow('no signatures found');
});

test.each([
  [
    'wrong credentials',
    () => ({ DOCKER_CONFIG: fs.mkdtempSync(path.join(registry.folder, 'empty-')) }),
    'Cannot push',
  ],
  ['an invalid scope of npm', () => ({ NPM_SCOPE: 'acme' }), 'NPM_SCOPE "acme": expected a value'],
  ['an image that the scan rejects', () => ({ SCAN: 'false' }), 'Cannot publish'],
  ['a key with another password', () => ({ COSIGN_PASSWORD: 'x' }), 'Cannot use COSIGN_KEY: '],
])('%s: one line, and nothing is published', async (_, change, message) => {
  const before = registry.content();

  await expect(registry.publish(`${tag}-2`, change())).rejects.toThrow(message);

  expect(registry.content()).toEqual(before);
});
