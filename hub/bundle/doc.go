// Package bundle reads MCP bundles (.mcpb, earlier .dxt: a ZIP with a manifest.json), and unpacks them below a folder
// of the hub's own state, each into a folder that is named by the hash of the file.
//
// A bundle comes from a stranger. It is checked as a whole before a byte of it is written, and is refused if it has
// something that a person would not expect: a link, a path that leads out of it, a ZIP bomb. A signature says little,
// because anybody can sign a bundle, so signatures are not checked. Nothing of a bundle is run here.
//
// The format is that of github.com/modelcontextprotocol/mcpb, MANIFEST.md, versions 0.1 to 0.4.
package bundle
