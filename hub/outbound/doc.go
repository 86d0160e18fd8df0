// Package outbound sends requests to addresses that others name: the metadata of a server that wants a sign-in, the
// redirects and downloads of a registry. It keeps them from reaching what those others could not reach themselves, and
// bounds what comes back. What is asked for, and what the answer means, is a matter of who asks.
package outbound
