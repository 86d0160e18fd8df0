import { chromium } from 'playwright-core';

/** Chromium without anything that reaches out by itself; CHROMIUM names another program than Debian's. */
export function launchBrowser() {
  return chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // Nothing outside this machine is even looked up. The webviews' own host is answered by their service worker,
      // inside the browser.
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    ],
  });
}
