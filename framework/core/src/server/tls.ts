import type { X509Certificate } from 'node:crypto';

import { aString, check, oneOf, readOptions, required } from '../options.ts';

/** The certificate of a server. Keys and certificates are the contents of files, not their names. */
export interface TlsOptions {
  /** The private key, in PEM form. */
  readonly key: string | Buffer;
  /** The certificate, followed by its intermediate certificates, in PEM form. */
  readonly cert: string | Buffer;
  /** The passphrase of an encrypted key. */
  readonly passphrase?: string;
  /** Requires a client certificate that one of these authorities signed, in PEM form. Default: none. */
  readonly ca?: string | Buffer;
  /** Default `TLSv1.2`. */
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3';
}

/** Errors of this option contain no value, because it may be a private key. */
const aPem = check('text in PEM form', () => true);

/**
 * Checks keys and certificates, which Node would reject with the error of its TLS library, or only
 * when a client connects.
 *
 * @throws {TypeError} with the name of the invalid option
 */
export function readTls(options: TlsOptions): TlsOptions {
  const { key, cert, ca, passphrase } = readOptions('the option tls of listen()', options, {
    key: required(aPem),
    cert: required(aPem),
    ca: aPem,
    passphrase: aString,
    minVersion: oneOf(['TLSv1.2', 'TLSv1.3']),
  });
  const { createPrivateKey } = process.getBuiltinModule('node:crypto');
  const privateKey = read(
    'key',
    'a private key in PEM form, with the passphrase if it has one',
    () => createPrivateKey({ key, ...(passphrase !== undefined && { passphrase }) }),
  );
  const certificate = read('cert', 'a certificate in PEM form', () => readCertificate(cert));
  if (ca !== undefined) read('ca', 'certificates in PEM form', () => readCertificate(ca));
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new TypeError(
      'Cannot use option tls of listen(): expected the private key of the certificate',
    );
  }
  return options;
}

/** Node also parses the binary form, but its TLS server does not accept it. */
function readCertificate(pem: string | Buffer): X509Certificate {
  if (!String(pem).includes('-----BEGIN CERTIFICATE-----')) throw new TypeError('Not in PEM form');
  const { X509Certificate } = process.getBuiltinModule('node:crypto');
  return new X509Certificate(pem);
}

function read<T>(name: string, expected: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw new TypeError(`Cannot read option tls.${name} of listen(): expected ${expected}`, {
      cause,
    });
  }
}
