import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proxyEnvironment } from '../dist/proxy.js';

test('a proxy is named to the hub and its servers in both spellings', () => {
  const url = 'http://proxy.example.com:8080';
  assert.deepEqual(proxyEnvironment({ url, except: ['localhost', '.example.com'] }), {
    HTTP_PROXY: url,
    http_proxy: url,
    HTTPS_PROXY: url,
    https_proxy: url,
    NO_PROXY: 'localhost,.example.com',
    no_proxy: 'localhost,.example.com',
  });
  assert.deepEqual(Object.keys(proxyEnvironment({ url })), ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy']);
});
