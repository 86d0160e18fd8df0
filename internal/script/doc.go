// Package script plays conversations that are kept as txtar archives, in fake time. What the steps of a conversation
// mean is the test's business.
package script
