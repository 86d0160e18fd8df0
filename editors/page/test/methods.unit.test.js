// The methods that the page calls are those of the contract.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { services } from '../src/hub/methods.js';
import { registry } from './harness/schema.js';

test('every method that the page calls is one of the contract, with messages of its name', () => {
  for (const [name, service] of Object.entries(services)) {
    const method = registry.getService(`mcphub.v1.${service}`)?.methods.find((one) => one.name === name);
    assert.deepEqual(
      [method?.methodKind, method?.input.typeName, method?.output.typeName],
      ['unary', `mcphub.v1.${name}Request`, `mcphub.v1.${name}Response`],
      `${service}/${name}`,
    );
  }
});
