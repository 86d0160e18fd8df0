// The page of McpHub for hosts in Node: its files, its HTML, and what connects it to a hub of `@mcphub/host`. What runs
// in a browser is `@mcphub/page/frame`.
export { connectPage } from './connectpage.js';
export type { FileUri, PageWebview, WebviewPageOptions } from './connectpage.js';
export { pageFiles, pageFolder } from './pagefiles.js';
export type { PageFile } from './pagefiles.js';
export { pageHtml } from './pagehtml.js';
export type { PageHtmlOptions, Theme } from './pagehtml.js';
export type { Demo, Model, Surface } from './surface.js';
