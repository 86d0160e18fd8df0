package signin

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/outbound"
)

// finished is how long the redirect may still take after the person has said that the browser is done.
const finished = time.Minute

// person is one run of the authorization code grant.
type person struct {
	plan   *plan
	old    *Entry // of the same issuer, or nil
	scopes []string
	client *http.Client
	seen   *witness

	back   *redirect
	made   *Registration // of the client; nil if the client is not registered dynamically
	reused bool          // made comes from an earlier run
	opened bool          // the person has consented
}

// askPerson runs the authorization code grant with PKCE. It uses the metadata that the flow has read, so that what the
// person consents to is what is used.
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
	conf, err := s.register(ctx, p)
	var token *oauth2.Token
	if err == nil {
		token, err = s.exchange(ctx, f, p, conf)
	}
	if err != nil {
		s.keepRegistration(f, p)
		return nil, err
	}
	return s.entryOf(p, conf, token), nil
}

// exchange asks for a code, and exchanges it for a token (RFC 6749 section 4.1, RFC 7636, RFC 8707).
func (s *SignIn) exchange(ctx context.Context, f *flight, p *person, conf *oauth2.Config) (*oauth2.Token, error) {
	verifier, state := oauth2.GenerateVerifier(), rand.Text()
	resource := oauth2.SetAuthURLParam("resource", p.plan.resource)
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(verifier), resource}
	if p.plan.key != nil { // only the holder of this key can use the code (RFC 9449 section 10)
		options = append(options, oauth2.SetAuthURLParam("dpop_jkt", p.plan.key.thumbprint))
	}
	p.back.expect(state)
	code, err := s.fetchCode(ctx, f, p, conf.AuthCodeURL(state, options...), conf.Scopes)
	if err != nil {
		return nil, err
	}
	token, err := conf.Exchange(context.WithValue(ctx, oauth2.HTTPClient, p.client), code,
		oauth2.VerifierOption(verifier), resource)
	if err != nil {
		return nil, fmt.Errorf("token exchange failed: %w", err)
	}
	return token, checkType(token, p.plan.key, p.plan.binding == bound)
}

// register returns the client's registration at the authorization server: by hand, by a client ID metadata document, or
// dynamically (2026-07-28 basic/authorization/client-registration).
func (s *SignIn) register(ctx context.Context, p *person) (*oauth2.Config, error) {
	c, meta := s.o.Config, p.plan.server
	conf := &oauth2.Config{RedirectURL: p.back.URL, Scopes: p.scopes, Endpoint: oauth2.Endpoint{
		AuthURL: meta.AuthorizationEndpoint, TokenURL: meta.TokenEndpoint, AuthStyle: oauth2.AuthStyleInParams}}
	if slices.Contains(meta.ScopesSupported, "offline_access") { // SEP-2207: a refresh token is wanted
		conf.Scopes = union(p.scopes, []string{"offline_access"})
	}
	methods := meta.TokenEndpointAuthMethodsSupported
	switch {
	case c.ClientID != "":
		conf.ClientID, conf.ClientSecret = c.ClientID, c.ClientSecret
		conf.Endpoint.AuthStyle = styleOf(methods, c.ClientSecret)
		if c.ClientSecret != "" && !slices.ContainsFunc(methods, isSecretMethod) {
			conf.Endpoint.AuthStyle = oauth2.AuthStyleAutoDetect
		}
		return conf, nil
	case c.ClientMetadataURL != "" && meta.ClientIDMetadataDocumentSupported:
		conf.ClientID = c.ClientMetadataURL
		return conf, nil
	case meta.RegistrationEndpoint == "":
		return nil, errNoRegistration
	}
	if p.old != nil && p.old.Registration.fits(meta.RegistrationEndpoint, p.back.URL, time.Now()) {
		p.made, p.reused = p.old.Registration, true
	} else {
		var err error
		if p.made, err = newRegistration(ctx, p.client, meta.RegistrationEndpoint, p.back.URL,
			slices.Contains(methods, "none")); err != nil {
			return nil, err
		}
	}
	made := p.made.client()
	p.seen.hide(made.ClientSecret)
	conf.ClientID, conf.ClientSecret = made.ClientID, made.ClientSecret
	if m := made.TokenEndpointAuthMethod; m != "client_secret_post" && m != "none" {
		conf.Endpoint.AuthStyle = oauth2.AuthStyleInHeader // the default of RFC 7591 section 2
	}
	return conf, nil
}

func isSecretMethod(m string) bool { return m == "client_secret_post" || m == "client_secret_basic" }

func (s *SignIn) entryOf(p *person, c *oauth2.Config, token *oauth2.Token) *Entry {
	e := Entry{
		Server: s.key.Server, URL: s.key.URL, Issuer: p.plan.server.Issuer, Resource: p.plan.resource,
		ClientID: c.ClientID, AuthStyle: c.Endpoint.AuthStyle, TokenURL: c.Endpoint.TokenURL,
		Scopes:       slices.Sorted(slices.Values(c.Scopes)),
		Registration: p.made, ProofKey: p.plan.key,
	}
	if c.ClientID != s.o.Config.ClientID {
		e.ClientSecret = c.ClientSecret
	}
	return e.with(token)
}

// keepRegistration keeps a registration that a failed flow has made but not used in a browser, so that the next flow
// need not make another one. It drops one that was used in a browser: the authorization server may not know it any
// more, and reports that only to the browser.
func (s *SignIn) keepRegistration(f *flight, p *person) {
	made := p.made
	if made == nil || p.reused && !p.opened {
		return
	}
	if p.opened {
		made = nil
	}
	unlock, err := s.lock(s.life)
	if err != nil {
		return
	}
	defer unlock()
	now := s.current()
	if now != nil {
		if kept := s.ofAnotherHub(s.life, now); kept != nil && s.adopt(f, now, kept) {
			now = kept // what is written must not have a refresh token that another hub has used
		}
	}
	e := &Entry{Server: s.key.Server, URL: s.key.URL, Issuer: p.plan.server.Issuer, Resource: p.plan.resource}
	switch {
	case now != nil && now.Issuer == e.Issuer:
		*e = *now
	case now != nil || made == nil:
		return
	}
	e.Registration, e.Saved = made, time.Now().UTC()
	if s.adopt(f, now, e) {
		_ = s.write(s.life) // write has logged the error
	}
}

// fetchCode shows the prompts, and reads the answer of the authorization server.
func (s *SignIn) fetchCode(ctx context.Context, f *flight, p *person, address string, scopes []string) (string, error) {
	page, err := checkBrowserURL(address)
	if err != nil {
		return "", err
	}
	answer, err := s.browse(ctx, f, p, event.SignInQuestion{URL: address, URLHost: page.Host, Issuer: p.plan.server.Issuer,
		Resource: p.plan.resource, Scopes: slices.Sorted(slices.Values(scopes))})
	if err != nil {
		return "", err
	}
	p.seen.hide(answer.Get("code"))
	for _, name := range []string{"code", "state", "iss", "error"} {
		if len(answer[name]) > 1 { // RFC 6749 section 3.1
			return "", errors.New("the authorization server's answer has a parameter twice")
		}
	}
	// The answer of another server is not shown (RFC 9207 section 2.4). A right issuer is accepted even if the metadata
	// does not announce it (2026-07-28 basic/authorization, the table of "Authorization Response Validation").
	iss, meta := answer.Get("iss"), p.plan.server
	switch code := answer.Get("error"); {
	case (iss != "" || meta.AuthorizationResponseIssParameterSupported) && iss != meta.Issuer:
		return "", errors.New("the answer did not come from the authorization server that was asked")
	case code == "access_denied":
		return "", &DeclinedError{Server: s.o.Server, How: "denied"}
	case code != "":
		return "", &oauth2.RetrieveError{ErrorCode: code, ErrorDescription: answer.Get("error_description")}
	case answer.Get("code") == "":
		return "", errors.New("the authorization server's answer has no code")
	}
	return answer.Get("code"), nil
}

// browse asks for consent, and then shows that it waits for the browser, until the browser comes back.
func (s *SignIn) browse(ctx context.Context, f *flight, p *person, prompt event.SignInQuestion) (url.Values, error) {
	if !s.asking(f) {
		return nil, context.Cause(ctx)
	}
	s.log.Info("a sign-in is asked for", "issuer", bounds.Printable(prompt.Issuer))
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

// ask shows one prompt. came reports whether the browser has come back, whatever the answer to the prompt is. ask
// always waits for the goroutine of the Asker.
func (s *SignIn) ask(ctx context.Context, back *redirect, p event.SignInQuestion) (came bool, err error) {
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
	return false, &Error{Server: s.o.Server, Text: bounds.Printable("nobody could be asked: " + err.Error()), Unasked: err}
}

// ownParameters are the parameters of the authorization URL that this client sets, and those that would override them:
// response_mode sends the answer elsewhere, and a request object (RFC 9101) replaces all other parameters.
var ownParameters = []string{
	"response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method", "resource",
	"dpop_jkt",
	"response_mode", "request", "request_uri",
}

// checkAuthorizationEndpoint refuses an authorization endpoint that would make the client's parameters ineffective;
// they are appended to those of the endpoint. The endpoint may have a query, but no fragment (RFC 6749 section 3.1),
// because everything after "#" stays in the browser. If a parameter occurs twice, many servers use the first, and state
// and PKCE are parameters, too.
func checkAuthorizationEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil {
		return errors.New("the authorization endpoint in the metadata is not a valid URL")
	}
	if strings.Contains(endpoint, "#") {
		return errors.New("the authorization endpoint in the metadata has a fragment (#), which no such endpoint may have")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return errors.New("the query of the authorization endpoint in the metadata is not valid")
	}
	for name := range query {
		if slices.Contains(ownParameters, strings.ToLower(name)) {
			return fmt.Errorf("the authorization endpoint in the metadata has the parameter %s, which is for this client to set",
				bounds.Printable(name))
		}
	}
	return nil
}

// Asker shows q to a person. It is called twice in a successful sign-in: first for consent, and then with Waiting. The
// URL was checked: https, or http on loopback.
//
// If it returns nil, the person consents; with Waiting, the person says "I have finished". [ErrDeclined] and
// [ErrDismissed] end the sign-in. Any other error means that nobody could be asked; the flow fails without further
// consequences. When ctx ends, Asker must remove the prompt and return soon. The cause is a [*Completed] if the
// redirect has come.
type Asker func(ctx context.Context, q event.SignInQuestion) error

var (
	// ErrDeclined is returned by an Asker if the person has said no.
	ErrDeclined = errors.New("declined")
	// ErrDismissed is returned by an Asker if the person has closed the prompt without an answer.
	ErrDismissed = errors.New("dismissed")
)

// Completed is the cause with which the context of a prompt ends when the browser has come back.
type Completed struct{}

func (*Completed) Error() string { return "the browser has come back" }

// checkBrowserURL accepts only addresses that may be opened in a browser: the address comes from a server's metadata.
func checkBrowserURL(text string) (outbound.Page, error) {
	page, err := outbound.CheckPage(text)
	if err != nil {
		return outbound.Page{}, fmt.Errorf("the authorization URL %w", err)
	}
	return page, nil
}
