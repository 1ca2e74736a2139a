import { expect, test } from 'vitest';

import { markup } from './markup.ts';

test('markup escapes values in elements and attributes', () => {
  const hostile = `</p><script>alert('1')</script> " & <`;

  const written = markup`<p title="${hostile}">${hostile}</p>`.toString();

  expect(written.match(/[<>]/g)).toEqual(['<', '>', '<', '>']);
  expect(written.match(/"/g)).toHaveLength(2);
  expect(written).toContain(
    '&lt;/p&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &quot; &amp; &lt;',
  );
});

test('markup does not escape nested markup, alone and in lists', () => {
  const rows = ['a', '<b>'].map((name) => markup`<li>${name}</li>`);

  expect(markup`<ul>${rows}</ul>${undefined}${7}`.toString()).toBe(
    '<ul><li>a</li><li>&lt;b&gt;</li></ul>7',
  );
});
