package signin

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"time"
)

// answers returns a handler with one fixed answer.
func answers(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// A refresh token that the token endpoint refuses, with whatever answer, is dropped, and the user is asked to sign in
// again. It was once kept for every code but three: each request failed then, nobody was asked, and the state said
// "signed in". Finding B5.
func TestRefusedRefreshAsksAgain(t *testing.T) {
	const asJSON, asForm = "application/json", "application/x-www-form-urlencoded"
	tests := map[string]http.HandlerFunc{
		"invalid_grant":      answers(400, asJSON, `{"error":"invalid_grant"}`),
		"invalid_grant, 500": answers(500, asJSON, `{"error":"invalid_grant"}`),
		"invalid_request":    answers(400, asJSON, `{"error":"invalid_request"}`),
		"invalid_target":     answers(400, asJSON, `{"error":"invalid_target"}`),
		"invalid_scope":      answers(400, asJSON, `{"error":"invalid_scope"}`),
		"access_denied":      answers(403, asJSON, `{"error":"access_denied"}`),
		"server_error, 400":  answers(400, asJSON, `{"error":"server_error"}`),
		"GitHub": answers(200, asForm,
			"error=bad_refresh_token&error_description=The+refresh+token+passed+is+incorrect+or+expired."),
		"GitHub as JSON":     answers(200, asJSON, `{"error":"bad_refresh_token"}`),
		"GitHub, the client": answers(200, asForm, "error=incorrect_client_credentials"),
		"a page, 404":        answers(404, "text/html", "<h1>gone</h1>"),
		"no words, 401":      answers(401, asJSON, ""),
		"another type":       answers(200, asJSON, `{"access_token":"x","token_type":"mac"}`),
		"redirected elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://as.example/new", http.StatusPermanentRedirect)
		},
	}
	for name, answer := range tests {
		t.Run(name, func(t *testing.T) {
			live(t, Options{}, func(t *testing.T, w *world) {
				w.works(t)
				time.Sleep(2 * time.Hour)
				w.as.set(func() { w.as.refreshAnswer = answer })
				w.works(t)
				w.askedTimes(t, 2)
				time.Sleep(2 * time.Hour) // and once more: the new token is refused likewise
				w.works(t)
				w.askedTimes(t, 3)
			})
		})
	}
}

// A temporary error fails the request, and the token stays: once it is over nobody has to sign in. Finding B5.
func TestPassingTroubleKeepsRefreshToken(t *testing.T) {
	const asJSON = "application/json"
	tests := map[string]http.HandlerFunc{
		"temporarily_unavailable":      answers(400, asJSON, `{"error":"temporarily_unavailable"}`),
		"temporarily_unavailable, 200": answers(200, asJSON, `{"error":"temporarily_unavailable"}`),
		"500":                          answers(500, "text/plain", "oh"),
		"502, a page":                  answers(502, "text/html", "<h1>Bad Gateway</h1>"),
		"503 with a code":              answers(503, asJSON, `{"error":"server_error"}`),
		"429":                          answers(429, asJSON, `{"error":"slow_down"}`),
		"408":                          answers(408, asJSON, ""),
		"a page in front of the net":   answers(200, "text/html", "<h1>Welcome to our hotel</h1>"),
	}
	for name, answer := range tests {
		t.Run(name, func(t *testing.T) {
			live(t, Options{}, func(t *testing.T, w *world) {
				w.works(t)
				time.Sleep(2 * time.Hour)
				w.as.set(func() { w.as.refreshAnswer = answer })
				for range 3 {
					fails[*Error](t, w)
					time.Sleep(time.Hour)
				}
				w.as.set(func() { w.as.refreshAnswer = nil })
				w.works(t)
				w.askedTimes(t, 1)
			})
		})
	}
	t.Run("no connection", func(t *testing.T) {
		live(t, Options{}, func(t *testing.T, w *world) {
			w.works(t)
			time.Sleep(2 * time.Hour)
			next := w.s.guard.Base
			w.s.guard.Base = cutOff{}
			fails[*Error](t, w)
			w.s.guard.Base = next
			w.works(t)
			w.askedTimes(t, 1)
		})
	})
}

// cutOff is a network on which every request fails.
type cutOff struct{}

func (cutOff) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no route to host")
}
