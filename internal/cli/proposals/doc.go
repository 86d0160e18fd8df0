// Package proposals shows servers that somebody else has published, from registries and bundles, before they are added.
//
// What must not live here: where they are found (hub/catalog).
package proposals
