package signin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// finished is how long the redirect may still take after the person has said that the browser is done.
const finished = time.Minute

// person is one run of the authorization code grant.
type person struct {
	plan   *plan
	old    *Entry // of the same issuer, or nil
	scopes []string
	client *http.Client
	seen   *replay

	back   *redirect
	opened bool   // the person has consented
	code   string // of the answer; a secret
}

// askPerson runs the authorization code grant with PKCE through the SDK's handler. The handler is made anew for each
// run, as the redirect URI differs; what it would remember, the granted scopes and the client, is in the entry.
func (s *SignIn) askPerson(ctx context.Context, f *flight, p *person) (*Entry, error) {
	if s.o.Ask == nil {
		return nil, errors.New("there is nobody to ask")
	}
	if err := checkAuthorizationEndpoint(p.plan.server.AuthorizationEndpoint); err != nil {
		return nil, err
	}
	wanted := 0
	if p.old != nil && p.old.Registration != nil {
		wanted = portOf(p.old.Registration.RedirectURL)
	}
	back, err := openRedirect(ctx, s.listen, s.o.Config.RedirectPort, wanted)
	if err != nil {
		return nil, err
	}
	defer back.close()
	p.back = back

	var e *Entry
	conf := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL:         back.URL,
		Client:              p.client,
		ScopeFilter:         func([]string) []string { return slices.Clone(p.scopes) },
		RequestRefreshToken: true,
		// An issuer that is right is taken also where the metadata does not announce it (2026-07-28 basic/authorization, the
		// table of "Authorization Response Validation": what is present is compared).
		AcceptUnadvertisedIss: true,
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			return s.fetchCode(ctx, f, p, args.URL)
		},
		NewTokenSource: func(_ context.Context, c *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
			if err := checkType(token, p.plan.key, p.plan.binding == bound); err != nil {
				return nil, err
			}
			e = s.entryOf(p, c, token)
			return oauth2.StaticTokenSource(token), nil
		},
	}
	s.register(conf, p)
	handler, err := auth.NewAuthorizationCodeHandler(conf)
	if err != nil {
		return nil, err
	}
	// The handler looks for metadata itself. It is told what was found, in the form of a challenge, so that it finds the
	// same.
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.plan.resource, nil)
	if err != nil {
		return nil, err
	}
	resp := &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{}, Body: http.NoBody, Request: req}
	if p.plan.found != "" {
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p.plan.found)
		resp.Header.Set("WWW-Authenticate", `Bearer resource_metadata="`+quoted+`"`)
	}
	if err := handler.Authorize(ctx, req, resp); err != nil {
		err = s.failure(ctx, err, append(p.seen.secrets(), p.code)...)
		s.keepRegistration(f, p)
		return nil, err
	}
	if e == nil {
		return nil, errors.New("the authorization server gave no token")
	}
	return e, nil
}

// register says how the client is known to the authorization server: registered by hand, by a client ID metadata
// document, or dynamically (2026-07-28 basic/authorization/client-registration).
func (s *SignIn) register(conf *auth.AuthorizationCodeHandlerConfig, p *person) {
	c := s.o.Config
	if c.ClientID != "" {
		conf.PreregisteredClient = &oauthex.ClientCredentials{ClientID: c.ClientID, Issuer: c.Issuer}
		if c.ClientSecret != "" {
			conf.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: c.ClientSecret}
		}
		return
	}
	if c.ClientMetadataURL != "" {
		conf.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: c.ClientMetadataURL}
	}
	meta := &oauthex.ClientRegistrationMetadata{
		ClientName: "McpHub", ApplicationType: "native", RedirectURIs: []string{p.back.URL},
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
	}
	if slices.Contains(p.plan.server.TokenEndpointAuthMethodsSupported, "none") {
		meta.TokenEndpointAuthMethod = "none" // a program on a user's computer cannot keep a secret (RFC 8252 section 8.5)
	}
	conf.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: meta}
	p.seen.endpoint, p.seen.redirect = p.plan.server.RegistrationEndpoint, p.back.URL
	if p.old != nil && p.old.Registration.fits(p.seen.endpoint, p.back.URL, time.Now()) {
		p.seen.kept = p.old.Registration
	}
}

func (s *SignIn) entryOf(p *person, c *oauth2.Config, token *oauth2.Token) *Entry {
	made, _ := p.seen.registration()
	e := Entry{
		Server: s.key.Server, URL: s.key.URL, Issuer: p.plan.server.Issuer, Resource: p.plan.resource,
		ClientID: c.ClientID, AuthStyle: c.Endpoint.AuthStyle, TokenURL: c.Endpoint.TokenURL, Scopes: c.Scopes,
		Registration: made,
		ProofKey:     p.plan.key,
	}
	slices.Sort(e.Scopes)
	if c.ClientID != s.o.Config.ClientID {
		e.ClientSecret = c.ClientSecret
	}
	return e.with(token)
}

// keepRegistration keeps a registration that a failed flow has made and not shown to a browser, so that the next flow
// need not make another; and drops one that was shown: the authorization server may not know it any more, and tell that
// to the browser alone.
func (s *SignIn) keepRegistration(f *flight, p *person) {
	made, reused := p.seen.registration()
	if made == nil || reused && !p.opened {
		return
	}
	if p.opened {
		made = nil
	}
	now := s.current()
	e := &Entry{Server: s.key.Server, URL: s.key.URL, Issuer: p.plan.server.Issuer, Resource: p.plan.resource}
	switch {
	case now != nil && now.Issuer == e.Issuer:
		*e = *now
	case now != nil || made == nil:
		return
	}
	e.Registration, e.Saved = made, time.Now().UTC()
	if s.adopt(f, now, e) {
		_ = s.persist(s.life) // it has logged what went wrong
	}
}

// fetchCode shows the prompts and reads the authorization server's answer.
func (s *SignIn) fetchCode(ctx context.Context, f *flight, p *person,
	address string) (*auth.AuthorizationResult, error) {
	page, err := checkBrowserURL(address)
	if err != nil {
		return nil, err
	}
	u := page.URL
	query := u.Query()
	if p.plan.key != nil { // the code is of use to this key alone (RFC 9449 section 10)
		query.Set("dpop_jkt", p.plan.key.thumbprint)
		u.RawQuery = query.Encode()
		address = u.String()
	}
	p.back.expect(query.Get("state"))
	prompt := Prompt{
		Server: s.o.Server, URL: address, URLHost: page.Host, Issuer: p.plan.server.Issuer, Resource: p.plan.resource,
		Scopes: slices.Sorted(slices.Values(strings.Fields(query.Get("scope")))), StepUp: f.stepUp,
	}
	answer, err := s.browse(ctx, f, p, prompt)
	if err != nil {
		return nil, err
	}
	p.code = answer.Get("code")
	for _, name := range []string{"code", "state", "iss", "error"} {
		if len(answer[name]) > 1 { // RFC 6749 section 3.1
			return nil, errors.New("the authorization server's answer has a parameter twice")
		}
	}
	if answer.Get("error") != "" {
		return nil, s.refusal(p, answer)
	}
	if answer.Get("code") == "" {
		return nil, errors.New("the authorization server's answer has no code")
	}
	return &auth.AuthorizationResult{Code: answer.Get("code"), State: answer.Get("state"), Iss: answer.Get("iss")}, nil
}

// refusal reads an error answer. It is held to the same issuer check as a code: what another server says is not shown
// (RFC 9207 section 2.4).
func (s *SignIn) refusal(p *person, answer url.Values) error {
	iss, meta := answer.Get("iss"), p.plan.server
	if (iss != "" || meta.AuthorizationResponseIssParameterSupported) && iss != meta.Issuer {
		return errors.New("the answer did not come from the authorization server that was asked")
	}
	code := answer.Get("error")
	if code == "access_denied" {
		return &DeclinedError{Server: s.o.Server, How: "denied"}
	}
	return &oauth2.RetrieveError{ErrorCode: code, ErrorDescription: answer.Get("error_description")}
}

// browse asks for consent, and then shows that the browser is waited for, until it comes back.
func (s *SignIn) browse(ctx context.Context, f *flight, p *person, prompt Prompt) (url.Values, error) {
	if !s.asking(f) {
		return nil, context.Cause(ctx)
	}
	s.log.Info("a sign-in is asked for", "issuer", printable(prompt.Issuer))
	came, err := s.ask(ctx, p.back, prompt)
	if err != nil {
		return nil, err
	}
	p.opened = true
	if !came {
		prompt.Waiting = true
		if came, err = s.ask(ctx, p.back, prompt); err != nil {
			return nil, err
		}
	}
	if came {
		return p.back.answer(), nil
	}
	limit := time.NewTimer(finished)
	defer limit.Stop()
	select {
	case <-p.back.Answered:
		return p.back.answer(), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-limit.C:
		return nil,
			errors.New("the browser has not come back to this computer; it may run on another one, or be kept from 127.0.0.1")
	}
}

// ask shows one prompt. came: the browser came back, whatever the prompt says. The Asker's goroutine is waited for in
// any case.
func (s *SignIn) ask(ctx context.Context, back *redirect, p Prompt) (came bool, err error) {
	shown, hide := context.WithCancelCause(ctx)
	defer hide(nil)
	answered := make(chan error, 1)
	go func() { answered <- s.o.Ask(shown, p) }()
	select {
	case err = <-answered:
	case <-back.Answered:
		hide(&Completed{})
		err = <-answered
	case <-ctx.Done():
		err = <-answered
	}
	select {
	case <-back.Answered:
		return true, nil
	default:
	}
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err == nil:
		return false, nil
	case errors.Is(err, ErrDeclined):
		return false, &DeclinedError{Server: s.o.Server, How: "declined"}
	case errors.Is(err, ErrDismissed):
		return false, &DeclinedError{Server: s.o.Server, How: "dismissed"}
	}
	return false, &unaskedError{err}
}
