import { announce, button } from './dom.ts';

const THEMES = ['auto', 'light', 'dark'];
const KEY = 'fw-docs-theme';

/** Applies the theme that the reader selected last; default: the theme of the system. */
export function applyTheme(theme = read()): void {
  document.documentElement.dataset.theme = theme;
  for (const each of document.querySelectorAll('.theme')) {
    each.textContent = nameOf(theme);
    each.setAttribute('aria-label', `${nameOf(theme)} theme`);
  }
}

export function themeButton(): HTMLElement {
  return button(nameOf(read()), { class: 'theme', 'aria-label': `${nameOf(read())} theme` }, () => {
    const next = THEMES[(THEMES.indexOf(read()) + 1) % THEMES.length] ?? 'auto';
    try {
      localStorage.setItem(KEY, next);
    } catch {
      // Storage may be unavailable; the theme then applies until the page is closed.
    }
    chosen = next;
    applyTheme(next);
    announce(`Theme: ${next}`);
  });
}

let chosen: string | undefined;

function read(): string {
  if (chosen !== undefined) return chosen;
  let stored: string | null = null;
  try {
    stored = localStorage.getItem(KEY);
  } catch {
    // as above
  }
  return stored !== null && THEMES.includes(stored) ? stored : 'auto';
}

function nameOf(theme: string): string {
  return { light: 'Light', dark: 'Dark' }[theme] ?? 'Auto';
}
