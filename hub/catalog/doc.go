// Package catalog is where servers are found: it asks registries, reads bundles, and keeps the proposals that came of
// it until somebody makes an entry of one. What it keeps is bounded, and so is what is under way.
package catalog
