// Package catalog finds servers: it asks registries, reads bundles, and keeps their proposals until somebody makes an
// entry from one. The number of proposals is bounded, and so is the number of requests under way.
package catalog
