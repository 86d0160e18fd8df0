package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// challenge is what a server says when it refuses a request.
type challenge struct {
	metadataURL string
	scopes      []string
	code        string // error of the first challenge that has one
	// The server accepts tokens that are bound to a key (RFC 9449 section 7.1).
	dpop       bool
	algorithms []string // of the proofs that it accepts; nil if it does not say
	proof      string   // error of the DPoP challenge
}

// challengeOf parses the challenges of resp. A challenge that cannot be parsed is skipped, since it may be of a scheme
// that is not supported.
func challengeOf(resp *http.Response) challenge {
	var c challenge
	for _, header := range resp.Header.Values("WWW-Authenticate") {
		parsed, err := oauthex.ParseWWWAuthenticate([]string{header})
		if err != nil {
			continue
		}
		for _, p := range parsed {
			if c.metadataURL == "" {
				c.metadataURL = p.Params["resource_metadata"]
			}
			if p.Scheme == "dpop" && !c.dpop {
				c.dpop, c.proof, c.algorithms = true, p.Params["error"], strings.Fields(p.Params["algs"])
			}
			if p.Scheme == "bearer" || p.Scheme == "dpop" {
				if c.code == "" {
					c.code = p.Params["error"]
				}
				if c.scopes == nil {
					c.scopes = strings.Fields(p.Params["scope"])
				}
			}
		}
	}
	return c
}

// plan is the result of the discovery: where to sign in, and for what.
type plan struct {
	found    string // where the resource's metadata was found; "" for a server of 2025-03-26, which has none
	resource string
	scopes   []string // the scopes that the resource supports
	server   *oauthex.AuthServerMeta
	guessed  bool // neither the server nor an authorization server has metadata: there may be no sign-in at all
	binding  binding
	key      *ProofKey // of this flow; nil unless the binding needs one
}

// discover reads the metadata of the protected resource (RFC 9728) and of its authorization server (RFC 8414, OpenID
// Connect). It tries the same addresses as the SDK's auth.AuthorizationCodeHandler, in the same order, but is stricter
// in one respect: metadata that was found but is not valid ends the flow, whereas the handler would go on as with a
// server of 2025-03-26.
func discover(ctx context.Context, client *http.Client, seen *witness, c challenge, server *url.URL,
	dpop string) (*plan, error) {
	resource, found, err := protectedResource(ctx, client, seen, c.metadataURL, server)
	if err != nil {
		return nil, err
	}
	issuer := resource.AuthorizationServers[0]
	meta, err := auth.GetAuthServerMetadata(ctx, issuer, client)
	if err != nil {
		return nil, fmt.Errorf("metadata of the authorization server: %w", err)
	}
	var algorithms []string
	if meta != nil {
		algorithms = seen.proofAlgorithms()
	}
	bind, err := bindingOf(dpop, c, resource, algorithms)
	if err != nil {
		return nil, err
	}
	guessed := meta == nil && found == ""
	if meta == nil { // 2025-03-26 basic/authorization "Fallbacks for Servers without Metadata Discovery"
		meta = &oauthex.AuthServerMeta{Issuer: issuer, AuthorizationEndpoint: issuer + "/authorize",
			TokenEndpoint: issuer + "/token", RegistrationEndpoint: issuer + "/register"}
	}
	return &plan{found: found, resource: resource.Resource, scopes: resource.ScopesSupported, server: meta,
		guessed: guessed, binding: bind}, nil
}

// protectedResource returns the metadata, and the address where it was found.
func protectedResource(ctx context.Context, client *http.Client, seen *witness, named string,
	server *url.URL) (*oauthex.ProtectedResourceMetadata, string, error) {
	at := func(path string) string {
		u := *server
		u.Path, u.RawPath = path, ""
		return u.String()
	}
	const wellKnown = "/.well-known/oauth-protected-resource"
	full, root := server.String(), at("")
	type place struct{ url, resource string }
	places := []place{{named, full}, {at(wellKnown + "/" + strings.TrimLeft(server.Path, "/")), full},
		{at(wellKnown), root}}
	if server.Path == "" || server.Path == "/" { // one address, which metadata may spell in two ways
		places = []place{{named, root}, {named, at("/")}, {at(wellKnown), root}, {at(wellKnown), at("/")}}
	}

	var wrong error
	for _, p := range places {
		if p.url == "" {
			continue
		}
		seen.forget()
		meta, err := oauthex.GetProtectedResourceMetadata(ctx, p.url, p.resource, client)
		if err == nil {
			if len(meta.AuthorizationServers) == 0 {
				return nil, "", errors.New("the server's metadata names no authorization server")
			}
			return meta, p.url, nil
		}
		if ctx.Err() != nil {
			return nil, "", context.Cause(ctx)
		}
		if wrong == nil && !seen.absent(p.url != named) {
			wrong = err
		}
	}
	if wrong != nil {
		return nil, "", fmt.Errorf("metadata of the server: %w", wrong)
	}
	return &oauthex.ProtectedResourceMetadata{Resource: full, AuthorizationServers: []string{root}}, "", nil
}
