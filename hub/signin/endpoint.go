package signin

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// ownParameters are what the authorization URL says of this client, and what could take its place: response_mode sends
// the answer elsewhere, and a request object (RFC 9101) replaces all other parameters.
var ownParameters = []string{
	"response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method", "resource",
	"dpop_jkt",
	"response_mode", "request", "request_uri",
}

// checkAuthorizationEndpoint refuses an authorization endpoint that would swallow parameters of ours: they are added to
// what it has. It may have a query of its own, but no fragment (RFC 6749 section 3.1), as all that comes after "#"
// stays in the browser; and where a parameter is there twice, the first counts for many, state and PKCE among them.
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
