export { readCookie, readCookies } from './cookies/read-cookies.ts';
export { type CookieOptions, deleteCookie, setCookie } from './cookies/set-cookie.ts';
export { createSignedCookies, type SignedCookies } from './cookies/signed-cookies.ts';
