// Package bundle reads MCP bundles (.mcpb, earlier .dxt: a ZIP with a manifest.json) and unpacks them into a folder of
// the hub's own state, each into one of its own that is named by the hash of the file.
//
// A bundle is a stranger's: it is looked at as a whole before a byte of it is written, and what a person would not
// expect of it, a link, a path that leads out, a bomb, refuses all of it. That somebody has signed one says little, as
// anybody can sign; signatures are not looked at. Nothing of a bundle is run here.
//
// The format is that of github.com/modelcontextprotocol/mcpb, MANIFEST.md, versions 0.1 to 0.4.
package bundle
