// Package signin gets and keeps the OAuth 2.1 tokens for MCP servers behind HTTP (MCP 2026-07-28 basic/authorization
// and earlier revisions).
//
// A [SignIn] belongs to one configured server, and is the [transport.Authorizer] of its connections: it signs requests,
// refreshes tokens, and after a 401, or a 403 for lack of scopes, runs the flow that the server's metadata asks for.
// The steps of OAuth come from the auth and oauthex packages of the Go SDK. This package adds what they leave open: one
// flow for all calls that need it, the end of the flow when nobody waits for it any more, the redirect listener, the
// storage of tokens, and a check of the addresses in a server's metadata.
//
// A person is asked through an [Asker]; the package itself opens no browser.
//
// # Goroutines
//
// Flows, refreshes and loads run in goroutines of the SignIn. Callers only wait for them, each with its own context,
// and [SignIn.Close] waits for all of them. A sign-in ends when its last waiter has gone. A refresh goes on without
// waiters, up to its time limit: the authorization server may have replaced the refresh token already, and its answer
// must not be lost.
//
// # Several hubs
//
// The hubs of one user share a [Store], and may have the same token. A refresh token must be used once, so a hub that
// refreshes holds the entry for all hubs, over processes: it reads the store again, uses what another hub has got
// meanwhile, and stores its own result before it lets the next one in. What else writes an entry holds it, too.
//
// # Registrations and redirects
//
// The redirect listener uses a free port, so a registration that was made with this port fits the next flow only if the
// port is free again. That port is tried first. If it is in use, the client is registered again, because not every
// authorization server accepts other loopback ports (RFC 8252 section 7.3). A registration with which a flow failed is
// not used again.
//
// # Tokens bound to a key
//
// If the server and the authorization server ask for it, tokens are bound to a [ProofKey] (RFC 9449, DPoP): each
// sign-in makes a key, and each request has its own proof. Nonces are taken from every answer, by [SignIn.Observe]; a
// request that is refused because it has no nonce is sent once more. Bound tokens stay bound: a refresh is proved with
// the same key. If the server begins to require bound tokens, an unbound token is dropped and not refreshed.
//
// # Secrets
//
// Tokens and secrets are only in requests and in a [Store], never in errors, logs or a [State]. A proof key is only in
// a Store.
package signin
