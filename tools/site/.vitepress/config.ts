import fs from 'node:fs';
import path from 'node:path';

import { type DefaultTheme, defineConfig, type MarkdownRenderer } from 'vitepress';

import { renderMessages } from '../messages.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');

/** The address of the sources on a git host, for links to files that are no pages. */
const SOURCE = process.env.SOURCE?.replace(/\/$/, '');

/** Parts of services that `create-fw` and `make service` write, and links to the library chart. */
const EXCLUDED = ['framework/create/template/**', 'tools/service/**', 'deploy/charts/*/charts/**'];

const PAGES = fs
  .globSync('**/*.md', {
    cwd: ROOT,
    exclude: ['**/node_modules', '.local', 'packages', ...EXCLUDED],
  })
  .sort();

/** The groups of the menu: the pages of these folders, in this order. */
const GROUPS: Readonly<Record<string, string>> = {
  Documentation: 'docs/*.md',
  Packages: 'framework/*/README.md',
  'Pages of packages': 'framework/*/docs/*.md',
  Services: 'services/**/*.md',
  Deployment: 'deploy/**/*.md',
  Operations: 'docs/operations/*.md',
  Decisions: 'docs/decisions/*.md',
  Repository: '{tools,tests,bench}/**/*.md',
};

export default defineConfig({
  title: 'fw',
  description: 'An HTTP framework for Node in TypeScript',
  srcDir: ROOT,
  srcExclude: ['**/node_modules/**', '.local/**', 'packages/**', ...EXCLUDED],
  outDir: path.join(ROOT, '.local/site'),
  cacheDir: path.join(ROOT, '.local/site-cache'),
  rewrites: (page) => page.replace(/README\.md$/, 'index.md'),
  ignoreDeadLinks: 'localhostLinks',
  markdown: { config: adapt, anchor: { slugify } },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Where is …', link: '/docs/#where-is-' },
      { text: 'Messages', link: '/docs/messages' },
      { text: 'Changes', link: '/CHANGELOG' },
    ],
    sidebar: Object.entries(GROUPS).map(([text, pattern]) => ({
      text,
      collapsed: true,
      items: PAGES.filter((page) => path.matchesGlob(page, pattern)).map(menuItem),
    })),
  },
});

function menuItem(page: string): DefaultTheme.SidebarItem {
  const [, title = page] = /^# (.+)$/m.exec(fs.readFileSync(path.join(ROOT, page), 'utf8')) ?? [];
  return { text: title.replaceAll('`', ''), link: `/${page.replace(/(README)?\.md$/, '')}` };
}

/** The anchor of a heading on git hosts. */
function slugify(heading: string): string {
  const text = heading.trim().toLowerCase();
  return text.replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '').replaceAll(' ', '-');
}

function adapt(md: MarkdownRenderer): void {
  md.core.ruler.before('normalize', 'messages', (state) => {
    state.src = state.src.replace('<!-- messages -->', () => renderMessages(ROOT));
  });
  linkFiles(md);
  // Pages about Helm contain {{ }} as code, which is no expression of Vue.
  const renderCode = md.renderer.rules.code_inline;
  md.renderer.rules.code_inline = (...args) =>
    renderCode?.(...args).replaceAll('{{', '&#123;&#123;') ?? '';
}

/**
 * Makes the links of a git host work in the site: one to a folder leads to its README, one to a file that is
 * no page to the sources; without their address, only its text remains.
 */
function linkFiles(md: MarkdownRenderer): void {
  md.core.ruler.push('link-files', ({ tokens, env }) => {
    for (const { children } of tokens) {
      let tag = 'a';
      for (const token of children ?? []) {
        const href = token.type === 'link_open' ? token.attrGet('href') : null;
        if (href !== null) {
          const target = isRelative(href) ? targetOf(href, String(env.path)) : href;
          tag = target ? 'a' : 'span';
          token.attrs = target ? [['href', target]] : null;
        }
        if (token.type.startsWith('link_')) token.tag = tag;
      }
    }
  });
}

const isRelative = (href: string) => !/^(?:[a-z]+:|#|\/)/.test(href);

/** @throws {Error} if there is no such file */
function targetOf(href: string, page: string): string | undefined {
  const [target = '', hash = ''] = decodeURI(href).split(/(?=#)/);
  const file = path.resolve(path.dirname(page), target);
  const stat = fs.statSync(file, { throwIfNoEntry: false });
  if (!stat) throw new Error(`${path.relative(ROOT, page)} links to ${href}, which does not exist`);
  const readme = stat.isDirectory() ? path.join(file, 'README.md') : file;
  const name = path.relative(ROOT, readme);
  if (PAGES.includes(name)) return `/${name.replace(/(README)?\.md$/, '')}${hash}`;
  return SOURCE && `${SOURCE}/${path.relative(ROOT, file)}${hash}`;
}
