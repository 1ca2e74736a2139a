/** A path or a control character, which no file name may have (RFC 6266 §4.3). */
const UNSAFE = /[\p{Cc}/\\]/gu;

/** What is not the same in every parser of `filename="…"` (RFC 6266 appendix D). */
const AMBIGUOUS = /[^\x20-\x7e]|["%]/gu;

/**
 * The value of `Content-Disposition` for a download under `name`, in any language; `/`, `\` and control
 * characters become `_`. Old clients get a name in ASCII (RFC 6266 §4, RFC 8187 §3.2).
 */
export function attachmentOf(name: string): string {
  const safe = name.toWellFormed().replace(UNSAFE, '_');
  const fallback = safe.replace(AMBIGUOUS, '_');
  const plain = `attachment; filename="${fallback}"`;
  return fallback === safe ? plain : `${plain}; filename*=UTF-8''${encode(safe)}`;
}

/** Also encodes what `encodeURIComponent` keeps and RFC 8187 does not allow. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
