import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** The files of a Secret of type `kubernetes.io/tls`. */
export interface Certificate {
  /** The certificate, its own authority. */
  readonly 'tls.crt': string;
  /** The private key. */
  readonly 'tls.key': string;
}

export interface CertificateOptions {
  /** The private key of an earlier certificate. Default: a new one. */
  readonly key?: string;
  /** Default: the certificate is valid for 30 days, so that no alert announces its end. */
  readonly isExpired?: boolean;
}

/** Issues a certificate for `hosts`, such as `127.0.0.1` or `api.example.org`. */
export function issueCertificate(
  hosts: readonly string[],
  { key, isExpired = false }: CertificateOptions = {},
): Certificate {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-certificate-'));
  const names = hosts.map((host) => `${/^[\d.]+$/.test(host) ? 'IP' : 'DNS'}:${host}`);
  const files = { crt: path.join(folder, 'tls.crt'), key: path.join(folder, 'tls.key') };
  if (key) fs.writeFileSync(files.key, key);
  // Clients look an authority up by its name: with equal names, they trust only one of two certificates.
  const subject = `/CN=edge ${randomUUID()}`;
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout'];
  try {
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-out', files.crt, '-subj', subject, '-days', '30'],
        ...['-addext', `subjectAltName=${names.join()}`],
        ...(key ? ['-key', files.key] : [...newKey, files.key]),
      ],
      { stdio: 'pipe' },
    );
    if (isExpired) {
      const args = ['-in', files.crt, '-signkey', files.key, '-days', '0', '-out', files.crt];
      execFileSync('openssl', ['x509', ...args], { stdio: 'pipe' });
    }
    const read = (file: string) => fs.readFileSync(file, 'utf8');
    return { 'tls.crt': read(files.crt), 'tls.key': read(files.key) };
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

let written = 0;

/** Writes files to `folder` as the kubelet does: a symbolic link switches from the old files to the new ones. */
export function writeSecretVolume(folder: string, files: Readonly<Record<string, string>>): void {
  const version = `..version_${++written}`;
  fs.mkdirSync(path.join(folder, version), { recursive: true });
  const data = path.join(folder, '..data');
  const old = fs.existsSync(data) ? fs.realpathSync(data) : undefined;
  for (const [name, text] of Object.entries(files)) {
    fs.writeFileSync(path.join(folder, version, name), text);
    if (!old) fs.symlinkSync(path.join('..data', name), path.join(folder, name));
  }
  fs.symlinkSync(version, `${data}_tmp`);
  fs.renameSync(`${data}_tmp`, data);
  if (old) fs.rmSync(old, { recursive: true });
}
