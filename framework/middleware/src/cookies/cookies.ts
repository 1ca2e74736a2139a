export { readCookie, readCookies } from './read-cookies.ts';
export { type CookieOptions, deleteCookie, setCookie } from './set-cookie.ts';
export { createSignedCookies, type SignedCookies } from './signed-cookies.ts';
