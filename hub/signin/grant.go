package signin

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

const (
	grantJWTBearer  = "urn:ietf:params:oauth:grant-type:jwt-bearer"            // RFC 7523 section 2.1
	assertionBearer = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" // RFC 7523 section 2.2
)

// askServer gets a token by one of the grants that need no person.
//
// The handlers of auth/extauth for two of them are not used: they do not support private_key_jwt. The one for
// enterprises sends the client secret in the body, whatever the server's metadata asks for, and refuses an identity
// provider whose metadata lists no PKCE, although a token exchange does not use it.
func (s *SignIn) askServer(ctx context.Context, p *plan, scopes []string, client *http.Client) (*Entry, error) {
	c := s.o.Config
	t := tokenRequest{url: p.server.TokenEndpoint, id: c.ClientID, secret: c.ClientSecret, scopes: scopes,
		style:  styleOf(p.server.TokenEndpointAuthMethodsSupported, c.ClientSecret),
		params: url.Values{"resource": {p.resource}}, key: p.key, must: p.binding == bound}
	switch c.Grant {
	case GrantClientCredentials:
		t.params.Set("grant_type", "client_credentials")
		if c.PrivateKeyPEM != "" {
			signer, err := newSigner(c.PrivateKeyPEM, c.SigningAlgorithm)
			if err != nil {
				return nil, err
			}
			assertion, err := signer.assertion(c.ClientID, p.server.Issuer, time.Now())
			if err != nil {
				return nil, err
			}
			t.style = oauth2.AuthStyleInParams
			t.params.Set("client_assertion_type", assertionBearer)
			t.params.Set("client_assertion", assertion)
		}
	case GrantEnterprise:
		assertion, err := s.identityAssertion(ctx, p, scopes, client)
		if err != nil {
			return nil, err
		}
		t.params.Set("grant_type", grantJWTBearer)
		t.params.Set("assertion", assertion)
	case GrantWorkload:
		t.params.Set("grant_type", grantJWTBearer)
		assertion, err := workloadToken(&c)
		if err != nil {
			return nil, err
		}
		t.params.Set("assertion", assertion)
	}
	token, err := t.send(ctx, client)
	if err != nil {
		return nil, err
	}
	token.RefreshToken = "" // the grant itself is repeated instead
	e := Entry{Server: s.key.Server, URL: s.key.URL, Issuer: p.server.Issuer, Resource: p.resource, ClientID: c.ClientID,
		TokenURL: t.url, Scopes: scopes, ProofKey: p.key}
	return e.with(token), nil
}

// identityAssertion exchanges the ID token for an assertion for the server's authorization server (RFC 8693, ID-JAG).
func (s *SignIn) identityAssertion(ctx context.Context, p *plan, scopes []string, client *http.Client) (string, error) {
	c := s.o.Config
	endpoint := c.IDP.TokenEndpoint
	if endpoint == "" {
		meta, err := auth.GetAuthServerMetadata(ctx, c.IDP.Issuer, client)
		if err != nil {
			return "", fmt.Errorf("metadata of the identity provider: %w", err)
		}
		if meta == nil {
			return "", fmt.Errorf("the identity provider has no metadata; set its token endpoint")
		}
		endpoint = meta.TokenEndpoint
	}
	token, err := oauthex.ExchangeToken(ctx, endpoint, &oauthex.TokenExchangeRequest{
		RequestedTokenType: oauthex.TokenTypeIDJAG, Audience: p.server.Issuer, Resource: p.resource, Scope: scopes,
		SubjectToken: c.IDP.IDToken, SubjectTokenType: oauthex.TokenTypeIDToken,
	}, &oauthex.ClientCredentials{ClientID: c.IDP.ClientID}, client)
	if err != nil {
		return "", fmt.Errorf("token exchange at the identity provider: %w", err)
	}
	if kind, _ := token.Extra("issued_token_type").(string); kind != oauthex.TokenTypeIDJAG {
		return "", fmt.Errorf("the identity provider gave a token of the type %s", kind)
	}
	return token.AccessToken, nil
}

// styleOf chooses how the client sends its secret. The library would find that out by trying, which sends a refused
// grant twice.
func styleOf(methods []string, secret string) oauth2.AuthStyle {
	switch {
	case secret == "", slices.Contains(methods, "client_secret_post"):
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader // the default of RFC 8414 section 2
}
