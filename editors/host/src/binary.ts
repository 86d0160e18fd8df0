// The default path of the hub's program: in the package for this machine, which npm installs beside this package as an
// optional dependency. No script runs at install, so `--ignore-scripts` makes no difference.
import { createRequire } from 'node:module';
import { HubError } from './failure.js';

/** The machines for which there is a package, by Node's names. */
const machines = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64', 'win32-arm64'];

/** Returns the path of the installed program. Throws a HubError that names the missing package and says what to do. */
export function installedBinary(machine = `${process.platform}-${process.arch}`, from = ownFile()): string {
  if (!machines.includes(machine)) {
    throw new HubError(
      'not_found',
      'BINARY_NOT_INSTALLED',
      `There is no package with mcphub for ${machine}, only for ${machines.join(', ')}: build mcphub, and give its path as “binary”.`,
    );
  }
  const name = `@mcphub/bin-${machine}`;
  try {
    return createRequire(from).resolve(`${name}/bin/${machine.startsWith('win32-') ? 'mcphub.exe' : 'mcphub'}`);
  } catch (cause) {
    throw new HubError(
      'not_found',
      'BINARY_NOT_INSTALLED',
      `The package ${name}, which brings mcphub for this machine, is not installed: install @mcphub/host anew on this machine, without --omit=optional, or give the path of mcphub as “binary”.`,
      { cause },
    );
  }
}

/** Returns the path or URL of this file. A bundle in CommonJS has no import.meta.url. */
function ownFile(): string {
  return typeof __filename === 'string' ? __filename : import.meta.url;
}
