// Package script plays conversations that are stored as txtar archives, in fake time. The test defines the meaning of
// the steps.
package script
