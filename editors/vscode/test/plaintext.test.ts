import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brief, inMessage, inPick, quoted, visible } from '../src/plaintext.js';

// The syntax of links in VS Code's notifications.
const link = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/giu;

test('what cannot be seen is spelled out', () => {
  assert.equal(visible('rm\u202e/ fr'), 'rm⟨U+202E⟩/ fr');
  assert.equal(visible('a\u0000b\u200bc\ufeff\u{e0041}'), 'a⟨U+0000⟩b⟨U+200B⟩c⟨U+FEFF⟩⟨U+E0041⟩');
  assert.equal(visible('two\nlines, Grüße, 日本語, 👍'), 'two\nlines, Grüße, 日本語, 👍');
});

// Finding I11: 55 code points passed through native dialogs. That the page uses the same function, its own test shows.
test('every code point that cannot be seen, or turns the direction of writing, is spelled out in every native form', () => {
  const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/u;
  let count = 0;
  for (let point = 0; point <= 0x10ffff; point++) {
    const char = String.fromCodePoint(point);
    if (!hidden.test(char) || char === '\n' || char === '\t') continue;
    count++;
    const code = `⟨U+${point.toString(16).toUpperCase().padStart(4, '0')}⟩`;
    for (const form of [visible, inMessage, inPick]) assert.equal(form(`a${char}b`), `a${code}b`);
    assert.equal(quoted(`a${char}b`), `“a${code}b”`);
  }
  assert.ok(count > 6_000, `${count} code points`); // 2,048 surrogates, 4,096 tags, and the rest
});

test('text of a server makes no link in a notification', () => {
  for (const evil of [
    '[Allow](command:workbench.action.quit)',
    'x](command:a)',
    '[a]\u200b(command:b)',
    '[[a]](https://x)',
    '[a]]](command:b) [c](file:d)',
  ]) {
    const shown = `${inMessage(evil)}: Run ${inMessage(evil)}?`;
    assert.deepEqual([...shown.matchAll(link)], [], shown);
  }
});

test('text of a server makes no icon in a pick list', () => {
  // The syntax of VS Code's icons: a backslash before it makes it text.
  const icon = /(\\)?\$\((([A-Za-z0-9-]+)(?:~([A-Za-z]+))?)\)/gu;
  for (const evil of ['$(shield) trusted', 'x$(sync~spin)', '\\$(check)', '$$(check)']) {
    assert.deepEqual(
      [...inPick(evil).matchAll(icon)].filter((m) => m[1] === undefined),
      [],
      inPick(evil),
    );
  }
  assert.equal(inPick('costs $5 (or $(echo a b))'), 'costs $5 (or $(echo a b))');
});

test('two texts of a server side by side make no link', () => {
  assert.equal(
    [...`${inMessage('[a]')}${inMessage('(command:b)')}`.matchAll(link)].length,
    1,
    'this is why every text of somebody else stands in quotes',
  );
  assert.equal([...`“${inMessage('[a]')}”“${inMessage('(command:b)')}”`.matchAll(link)].length, 0);
});

test('long text is cut between characters', () => {
  assert.equal(brief('👍👍👍', 2), '👍…');
  assert.equal(brief('abc', 3), 'abc');
  assert.equal(inMessage('](](](', 6), '] (] …');
});
