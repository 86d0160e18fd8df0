import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brief, commandLink, inMessage, inPick, visible } from '../src/plaintext.js';

// The syntax of links in VS Code's notifications.
const link = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/giu;

test('what cannot be seen is spelled out', () => {
  assert.equal(visible('rm\u202e/ fr'), 'rm⟨U+202E⟩/ fr');
  assert.equal(visible('a\u0000b\u200bc\ufeff\u{e0041}'), 'a⟨U+0000⟩b⟨U+200B⟩c⟨U+FEFF⟩⟨U+E0041⟩');
  assert.equal(visible('two\nlines, Grüße, 日本語, 👍'), 'two\nlines, Grüße, 日本語, 👍');
});

test('text of a server makes no link in a notification', () => {
  for (const evil of [
    '[Allow](command:workbench.action.quit)',
    'x](command:a)',
    '[a]\u200b(command:b)',
    '[[a]](https://x)',
    '[a]]](command:b) [c](file:d)',
  ]) {
    const shown = `The tool ${inMessage(evil)} asks [Show](command:mcphub.question.open?%5B%5D)`;
    assert.deepEqual(
      [...shown.matchAll(link)].map((m) => m[2]),
      ['command:mcphub.question.open?%5B%5D'],
      shown,
    );
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

test('a link of ours carries its arguments whole', () => {
  const [found] = [...`x ${commandLink('Deny', 'mcphub.question.decline', "it's (1) [2] ü", 3)} y`.matchAll(link)];
  const query = found?.[2]?.split('?')[1] ?? '';
  assert.deepEqual(JSON.parse(decodeURIComponent(query)), ["it's (1) [2] ü", 3]);
});

test('long text is cut between characters', () => {
  assert.equal(brief('👍👍👍', 2), '👍…');
  assert.equal(brief('abc', 3), 'abc');
});
