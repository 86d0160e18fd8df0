// The parts that find servers elsewhere. They are loaded when they are first used: most people never use them.

export { bundleFile } from './bundle.js';
export { registrySearch } from './registry.js';
