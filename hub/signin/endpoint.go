package signin

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

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
