package signin

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// tokenRequest is one request to a token endpoint, except for the exchange of a code (SignIn.exchange).
type tokenRequest struct {
	url    string
	id     string
	secret string
	style  oauth2.AuthStyle
	scopes []string
	params url.Values // includes grant_type
	key    *ProofKey  // the key for proofs; nil if none are sent
	must   bool       // the token must be bound to key
}

// send sends the request. It uses the client credentials package, which accepts any grant type: oauth2.Config can add
// neither the resource parameter to a refresh (RFC 8707 section 2.2) nor a client assertion to anything.
func (t *tokenRequest) send(ctx context.Context, client *http.Client) (*oauth2.Token, error) {
	if t.style == oauth2.AuthStyleAutoDetect && t.secret == "" {
		t.style = oauth2.AuthStyleInParams
	}
	conf := clientcredentials.Config{ClientID: t.id, ClientSecret: t.secret, TokenURL: t.url, AuthStyle: t.style,
		Scopes: t.scopes, EndpointParams: t.params}
	token, err := conf.Token(context.WithValue(ctx, oauth2.HTTPClient, client))
	if err != nil {
		return nil, err
	}
	return token, checkType(token, t.key, t.must)
}

// checkType refuses a token that cannot be used. The token may be bound to key; if must is set, it has to be.
func checkType(t *oauth2.Token, key *ProofKey, must bool) error {
	switch {
	case strings.EqualFold(t.TokenType, typeDPoP) && key != nil:
		return nil
	case must:
		return &tokenTypeError{"the authorization server does not bind tokens to a key (DPoP), and that is required"}
	case t.TokenType == "" || strings.EqualFold(t.TokenType, "bearer"):
		return nil
	}
	return &tokenTypeError{"the authorization server gives tokens of the type " + t.TokenType +
		", which are not supported"}
}

// tokenTypeError says that a token was given but cannot be used.
type tokenTypeError struct{ text string }

func (e *tokenTypeError) Error() string { return e.text }

// with returns e with the token.
func (e Entry) with(token *oauth2.Token) *Entry {
	e.AccessToken, e.TokenType, e.Expiry, e.Saved = token.AccessToken, "", token.Expiry, time.Now().UTC()
	if strings.EqualFold(token.TokenType, typeDPoP) {
		e.TokenType = typeDPoP
	}
	if token.RefreshToken != "" { // RFC 6749 section 6: without a new refresh token the old one stays valid
		e.RefreshToken = token.RefreshToken
	}
	if scope, ok := token.Extra("scope").(string); ok {
		e.Scopes = strings.Fields(scope)
	}
	e.Scopes = slices.Clone(e.Scopes)
	return &e
}

// withoutToken returns e without its token, which is not valid any more.
func (e Entry) withoutToken() *Entry {
	e.AccessToken, e.RefreshToken, e.Expiry, e.Saved = "", "", time.Time{}, time.Now().UTC()
	e.ProofKey, e.TokenType = nil, ""
	return &e
}

// joinRefresh returns the refresh that runs, or begins one of e. It is called with mu held.
func (s *SignIn) joinRefresh(e *Entry) *flight {
	if f := s.flights[refreshing]; f != nil {
		f.waiters++
		return f
	}
	return s.begin(&flight{kind: refreshing}, func(ctx context.Context, f *flight) error { return s.refresh(ctx, f, e) })
}

// refresh replaces old by the result of its refresh token, or by what another hub of this user has got with it. If it
// returns nil, the present entry counts, whether it has a new token or none.
//
// A refresh token is used once: many authorization servers revoke all tokens when one comes again (RFC 9700 section
// 4.14.2). So whoever refreshes holds the entry for all hubs, and looks first at what is kept.
func (s *SignIn) refresh(ctx context.Context, f *flight, old *Entry) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return s.failure(ctx, err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeoutCause(ctx, requestLimit, &Error{Server: s.o.Server,
		Text: "the authorization server took too long to refresh the token"})
	defer cancel()
	from := old
	if kept := s.ofAnotherHub(ctx, old); kept.usable(time.Now()) {
		s.adopt(f, old, kept)
		return nil
	} else if kept != nil && kept.RefreshToken != "" {
		from = kept
	}
	for again := false; ; again = true {
		token, err := s.sendRefresh(ctx, from)
		if err == nil {
			return s.replace(f, old, from.with(token))
		}
		verdict, code := judgeRefresh(err)
		switch verdict {
		case refreshMayPass:
			return s.failure(ctx, err, append(from.secrets(), old.secrets()...)...)
		case refreshDead:
			// Where there is no lock, another hub may have used the refresh token, and stored the one that replaced it.
			if kept := s.ofAnotherHub(ctx, from); kept.usable(time.Now()) {
				s.adopt(f, old, kept)
				return nil
			} else if kept != nil && kept.RefreshToken != "" && !again {
				from = kept
				continue
			}
		case clientDead:
			// the registration is not valid any more either
			from = &Entry{Server: from.Server, URL: from.URL, Issuer: from.Issuer, Resource: from.Resource, Scopes: from.Scopes}
		}
		s.log.Info("the token cannot be refreshed any more", "code", bounds.Printable(code))
		return s.replace(f, old, from.withoutToken())
	}
}

func (s *SignIn) sendRefresh(ctx context.Context, e *Entry) (*oauth2.Token, error) {
	secret := e.ClientSecret
	if e.ClientID == s.o.Config.ClientID {
		secret = s.o.Config.ClientSecret
	}
	t := tokenRequest{url: e.TokenURL, id: e.ClientID, secret: secret, style: e.AuthStyle, params: url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {e.RefreshToken}, "resource": {e.Resource},
	}, key: e.ProofKey, must: s.o.Config.DPoP == DPoPRequire}
	return t.send(ctx, s.guard.Client(s.proving(s.guard, e.TokenURL, e.ProofKey)))
}

// replace adopts and stores e in place of old. The entry is held. It saves with s.life and not with the flight's
// context: a refresh token that was replaced must not be lost because a caller stopped waiting.
func (s *SignIn) replace(f *flight, old, e *Entry) error {
	if s.adopt(f, old, e) {
		_ = s.write(s.life) // write has logged the error
	}
	return nil
}
