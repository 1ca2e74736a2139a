import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

/** The file that holds this machine's bearer token for reports. */
export function tokenFile(run: string): string {
  return path.join(run, 'reports-token');
}

/** The bearer token for reports: the one already there, or a new random one, for its owner's eyes only. */
export function readOrCreateToken(run: string): string {
  const file = tokenFile(run);
  if (fs.existsSync(file)) return fs.readFileSync(file, 'utf8').trim();
  const token = randomBytes(24).toString('base64url');
  fs.mkdirSync(run, { recursive: true });
  fs.writeFileSync(file, `${token}\n`, { mode: 0o600 });
  return token;
}
