// Package signin gets and keeps the OAuth 2.1 tokens for MCP servers behind HTTP
// (MCP 2026-07-28 basic/authorization and its elder revisions).
//
// [SignIn] belongs to one configured server and is the [transport.Authorizer]
// of its connections: it signs requests, refreshes tokens, and after a 401 or a
// 403 for lack of scopes it runs the flow that the server's metadata asks for.
// The steps of OAuth come from the Go SDK's auth and oauthex packages. What is
// done here is what they leave open: one flow for all calls that need it, its
// end when nobody waits for it any more, the redirect listener, where tokens
// are kept, and which addresses a server's metadata may send us to.
//
// A person is asked through an [Asker]; the package itself opens no browser.
//
// # Who owns what
//
// Flows, refreshes and loads run in goroutines of the SignIn: callers only wait
// for them, each under a context of its own, and [SignIn.Close] waits for all.
// A sign-in ends with its last waiter. A refresh goes on without waiters, up to
// its limit: the server may have replaced the refresh token already, and what
// it answers must not be lost.
//
// # Registrations and redirects
//
// The redirect listener takes a free port, so a registration made for it fits
// the next flow only if that port is free again. It is tried first; when it is
// taken, the client is registered anew, rather than trusting the authorization
// server to let loopback ports differ (RFC 8252 section 7.3). A registration
// with which a flow failed is not used again.
//
// # Tokens bound to a key
//
// Where server and authorization server want it, tokens are bound to a
// [ProofKey] (RFC 9449, DPoP): each sign-in makes one, and each request has a
// proof of its own. Nonces are learned from every answer, through
// [SignIn.Observe]; the request that is refused for want of one is sent once
// more. What has been bound stays so: a refresh is proved with the same key, and
// a token that is not bound is dropped, not refreshed, once the server wants one
// that is.
//
// # Secrets
//
// Tokens and secrets are in requests and in a [Store], nowhere else: not in
// errors, logs or [State]. A proof key is in a Store alone.
package signin
