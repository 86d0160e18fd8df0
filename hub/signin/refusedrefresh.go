package signin

import (
	"errors"
	"net/http"

	"golang.org/x/oauth2"

	"github.com/mcphub-go/mcphub/hub/outbound"
)

// refreshVerdict says what a failed refresh means for the refresh token.
type refreshVerdict int

const (
	// refreshMayPass means that the token endpoint could not be asked, or is out of order. The request fails, and the
	// token is kept.
	refreshMayPass refreshVerdict = iota
	// refreshDead means that the token endpoint does not accept the refresh token. The token is dropped, and the 401 that
	// follows starts a sign-in.
	refreshDead
	// clientDead means that the token endpoint does not know the client either. The registration is dropped, too.
	clientDead
)

// codeUnavailable is an error code of RFC 6749 section 4.1.2.1 that token endpoints use, too.
const codeUnavailable = "temporarily_unavailable"

// judgeRefresh returns the verdict for err, the error of a refresh, and the error code of the authorization server if
// there is one.
//
// RFC 6749 section 5.2 has invalid_grant for a refresh token that is not valid any more, but authorization servers
// report it in many ways: GitHub answers 200 with bad_refresh_token, others 400 with invalid_request, 403 with
// access_denied, or 404 after they have moved. If the token were kept then, each request would fail from then on, and
// nobody would be asked to sign in again. So every answer that is not a temporary problem counts as the end of the
// token; at worst a person signs in once more.
func judgeRefresh(err error) (refreshVerdict, string) {
	if wrong := (*tokenTypeError)(nil); errors.Is(err, outbound.ErrRedirected) || errors.As(err, &wrong) {
		return refreshDead, "" // another try would change nothing
	}
	var retrieve *oauth2.RetrieveError
	if !errors.As(err, &retrieve) {
		return refreshMayPass, "" // no answer came, or none of an authorization server
	}
	code, status := retrieve.ErrorCode, http.StatusBadRequest
	if retrieve.Response != nil {
		status = retrieve.Response.StatusCode
	}
	switch code {
	case "invalid_grant", "bad_refresh_token": // whatever the status: some servers answer 500
		return refreshDead, code
	case "invalid_client", "unauthorized_client", "incorrect_client_credentials": // the last one is GitHub's
		return clientDead, code
	case codeUnavailable:
		return refreshMayPass, code
	}
	switch {
	case status >= 500, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout,
		status == http.StatusTooEarly:
		return refreshMayPass, code
	case status == http.StatusUnauthorized && code == "": // the client's authentication failed (RFC 6749 section 5.2)
		return clientDead, code
	}
	return refreshDead, code
}
