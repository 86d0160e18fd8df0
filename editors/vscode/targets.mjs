/**
 * VS Code's names for platforms, and Go's.
 *
 * @type {Readonly<Record<string, {readonly goos: string, readonly goarch: string} | undefined>>}
 */
export const targets = Object.freeze({
  'linux-x64': { goos: 'linux', goarch: 'amd64' },
  'linux-arm64': { goos: 'linux', goarch: 'arm64' },
  'darwin-x64': { goos: 'darwin', goarch: 'amd64' },
  'darwin-arm64': { goos: 'darwin', goarch: 'arm64' },
  'win32-x64': { goos: 'windows', goarch: 'amd64' },
  'win32-arm64': { goos: 'windows', goarch: 'arm64' },
});
