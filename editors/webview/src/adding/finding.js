// What finds servers somewhere else: loaded when somebody asks for it first, as most people never do.

export { bundleFile } from './bundle.js';
export { registrySearch } from './registry.js';
