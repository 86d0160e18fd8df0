// Package catalog finds servers: it asks registries ([RegistryClient]), reads bundles ([Shelf]), and keeps their
// proposals until somebody makes an entry from one ([Catalog]). The number of proposals is bounded, and so is the
// number of requests under way.
//
// A registry is asked by version v0.1 of the API of the official registry, which is frozen. It is not trusted, whoever
// has chosen its address: its answers are bounded in bytes, entries and time, redirects and downloads lead only to
// addresses that it could reach itself, and nothing that it says is run or written here.
//
// A bundle (.mcpb, earlier .dxt: a ZIP with a manifest.json) comes from a stranger. It is checked as a whole before a
// byte of it is written below a folder of the hub's own state, and is refused if it has something that a person would
// not expect: a link, a path that leads out of it, a ZIP bomb. A signature says little, because anybody can sign a
// bundle, so signatures are not checked. Nothing of a bundle is run here. The format is that of
// github.com/modelcontextprotocol/mcpb, MANIFEST.md, versions 0.1 to 0.4.
//
// What must not live here: what a proposal is (hub/proposal), and entries of config files (hub/config/edit).
package catalog
