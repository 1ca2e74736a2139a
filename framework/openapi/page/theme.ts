import { announce, button } from './dom.ts';

const NAMES: Readonly<Record<string, string>> = { auto: 'Auto', light: 'Light', dark: 'Dark' };
const THEMES = Object.keys(NAMES);
const KEY = 'fw-docs-theme';

/** The theme that the reader selected last; default: the theme of the system. */
let theme = readStored();

/** Shows the page in the selected theme. */
export function applyTheme(): void {
  document.documentElement.style.colorScheme = theme === 'auto' ? '' : theme;
  for (const each of document.querySelectorAll('.theme')) {
    each.textContent = NAMES[theme] ?? '';
    each.setAttribute('aria-label', `${NAMES[theme]} theme`);
  }
}

export function themeButton(): HTMLElement {
  const label = `${NAMES[theme]} theme`;
  return button(NAMES[theme] ?? '', { class: 'theme', 'aria-label': label }, () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto';
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // Storage may be unavailable; the theme then applies until the page is closed.
    }
    applyTheme();
    announce(`Theme: ${theme}`);
  });
}

function readStored(): string {
  try {
    const stored = localStorage.getItem(KEY) ?? '';
    return THEMES.includes(stored) ? stored : 'auto';
  } catch {
    return 'auto';
  }
}
