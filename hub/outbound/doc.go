// Package outbound sends requests to addresses that others name: in the metadata of a server that asks for a sign-in,
// or in the redirects and downloads of a registry. It prevents requests to what these others could not reach
// themselves, and bounds the answers. The callers know what is requested, and what the answer means.
package outbound
