package catalog

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/outbound"
	"github.com/mcphub-go/mcphub/hub/proposal"
)

const (
	answerLimit   = 20 * time.Second // for one answer, including its body and redirects
	downloadLimit = 10 * time.Minute
	answerBytes   = 4 << 20 // 100 servers with everything that schema 2025-12-11 allows have about 1 MiB
	maxAddress    = 2048
	maxCursor     = 4096

	// DefaultPage and MaxPage are numbers of servers in one page of a search.
	DefaultPage = 30
	MaxPage     = 100
	// MaxDownload bounds a bundle, in bytes. Published bundles that include all their modules have up to 100 MiB.
	MaxDownload = 256 << 20
)

// RegistryClient asks registries. Each call names the address of the registry. The zero value is ready for use.
type RegistryClient struct {
	// RoundTripper sends the requests; nil means connections of its own. It must follow no redirects.
	RoundTripper http.RoundTripper
	// UserAgent is the value of the User-Agent header; "" means mcphub.
	UserAgent string
}

// address is the base address of a registry.
type address struct{ *url.URL }

// addressOf parses the address that a person has given, with or without the version of the API at its end.
func addressOf(base string) (address, error) {
	if base == "" {
		return address{}, event.Fail(event.CodeFailedPrecondition, event.ReasonRegistryNotSet, nil,
			"no registry is chosen: say its address by the setting mcphub.registry.url, --registry or MCPHUB_REGISTRY")
	}
	wrong := event.Fail(event.CodeInvalidArgument, event.ReasonRegistryAddress, nil,
		"the address of a registry is an https URL, or an http one of this computer, with neither user name, query nor "+
			"fragment")
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || len(base) > maxAddress || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		u.Scheme != "https" && u.Scheme != "http" {
		return address{}, wrong
	}
	u.Path, u.RawPath = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/v0.1"), ""
	return address{u}, nil
}

// at returns the address of a resource. The segments are escaped, because the name of a server has a slash.
func (a address) at(query url.Values, segments ...string) string {
	u := *a.URL
	u.RawPath = strings.TrimRight(u.EscapedPath(), "/") + "/v0.1"
	u.Path = strings.TrimRight(u.Path, "/") + "/v0.1"
	for _, s := range segments {
		u.RawPath += "/" + url.PathEscape(s)
		u.Path += "/" + s
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// Query is a search.
type Query struct {
	Text   string
	Cursor string // Page.Next of the previous page
	Size   int    // 0 means DefaultPage
}

// Page is one page of the result of a search.
type Page struct {
	Servers []Server
	Next    string // "" if there is no other page
	LeftOut int    // the number of entries that were invalid, or too many for the page
}

// Search returns a page of the latest versions of servers.
func (c *RegistryClient) Search(ctx context.Context, base string, q Query) (Page, error) {
	at, err := addressOf(base)
	if err != nil {
		return Page{}, err
	}
	if q.Size <= 0 {
		q.Size = DefaultPage
	}
	q.Size = min(q.Size, MaxPage)
	query := url.Values{"limit": {strconv.Itoa(q.Size)}, "version": {latest}}
	if q.Text != "" {
		query.Set("search", q.Text)
	}
	if q.Cursor != "" {
		query.Set("cursor", q.Cursor)
	}
	body, err := c.get(ctx, at, at.at(query, "servers"))
	if err != nil {
		return Page{}, err
	}
	page, ok := readPage(body, q.Size)
	if !ok {
		return Page{}, noAPI(at)
	}
	return page, nil
}

// latest is the version of a server that is requested if none is given.
const latest = "latest"

// Server returns one version of a server ("" means the latest), and the proposals for it.
func (c *RegistryClient) Server(ctx context.Context, base, name, version string) (Server, []*proposal.Proposal, error) {
	at, err := addressOf(base)
	if err != nil {
		return Server{}, nil, err
	}
	if version == "" {
		version = latest
	}
	if !nameForm.MatchString(name) || version == "." || version == ".." {
		return Server{}, nil, notFound(at, name)
	}
	body, err := c.get(ctx, at, at.at(nil, "servers", name, "versions", version))
	if e, ok := errors.AsType[*event.Error](err); ok && e.Meta["status"] == "404" {
		return Server{}, nil, notFound(at, name)
	}
	if err != nil {
		return Server{}, nil, err
	}
	s, ok := readServer(body)
	if !ok || s.Name != name || version != latest && s.Version != version { // not the requested one
		return Server{}, nil, noAPI(at)
	}
	return s, s.proposals(at.String(), jsontext.Get(body, "server")), nil
}

// Download writes a bundle to w. It returns an error if the bundle does not have the hash of d.
func (c *RegistryClient) Download(ctx context.Context, base string, d proposal.Download, w io.Writer) error {
	at, err := addressOf(base)
	if err != nil {
		return err
	}
	host := hostOf(d.URL)
	resp, closed, err := c.send(ctx, at, d.URL, downloadLimit, MaxDownload)
	if err != nil {
		return c.failed(ctx, host, err)
	}
	defer closed()
	if resp.StatusCode != http.StatusOK {
		return refused(host, resp.StatusCode)
	}
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(w, sum), resp.Body); err != nil {
		return c.failed(ctx, host, err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != d.SHA256 {
		return event.Fail(event.CodeInvalidArgument, event.ReasonBundleInvalid, nil,
			"the bundle of %s is not the one that the registry names: its SHA-256 is %s, and should be %s; nothing was kept",
			host, got, d.SHA256)
	}
	return nil
}

// get returns the body of an answer, which is one JSON object.
func (c *RegistryClient) get(ctx context.Context, at address, to string) (json.RawMessage, error) {
	resp, closed, err := c.send(ctx, at, to, answerLimit, answerBytes)
	if err != nil {
		return nil, c.failed(ctx, hostOf(to), err)
	}
	defer closed()
	if resp.StatusCode != http.StatusOK {
		return nil, refused(at.Host, resp.StatusCode)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, c.failed(ctx, hostOf(to), err)
	}
	if !jsontext.IsObject(body) {
		return nil, noAPI(at)
	}
	return body, nil
}

func (c *RegistryClient) send(ctx context.Context, at address, to string, limit time.Duration,
	most int64) (*http.Response, func(), error) {
	guard := outbound.NewGuard(outbound.Options{Host: at.Hostname(), Purpose: "a registry", Limit: limit, MaxBytes: most,
		RoundTripper: c.RoundTripper})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, to, nil)
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Accept", "application/json, application/octet-stream;q=0.9")
	req.Header.Set("User-Agent", cmp.Or(c.UserAgent, "mcphub"))
	resp, err := guard.Client(guard).Do(req)
	if err != nil {
		guard.Close()
		return nil, nil, err
	}
	return resp, func() {
		resp.Body.Close()
		guard.Close()
	}, nil
}

// failed returns an error that says why there is no answer. The error does not include the address, which has the text
// of a search in it.
func (c *RegistryClient) failed(ctx context.Context, host string, err error) error {
	if ctx.Err() != nil {
		return event.StoppedWaiting(ctx, err)
	}
	code, text := event.CodeUnavailable, "cannot be reached; look at the address and the network"
	if wrong, ok := errors.AsType[*outbound.AddressError](err); ok {
		text = "is not asked: " + wrong.Error()
	} else if long, ok := errors.AsType[*outbound.TooLongError](err); ok {
		return event.Fail(event.CodeResourceExhausted, event.ReasonBoundExceeded, nil,
			"%s sent more than %s, which is the most",
			bounds.Printable(host), bounds.Bytes(int(long.Limit)))
	} else if timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err); ok && timeout.Timeout() {
		code, text = event.CodeDeadlineExceeded, "did not answer in time; try again later"
	} else if cause, ok := errors.AsType[*url.Error](err); ok {
		text = "cannot be reached: " + bounds.Printable(cause.Err.Error())
	}
	e := event.Fail(code, event.ReasonRegistryFailed, []string{"host", host}, "%s %s", bounds.Printable(host), text)
	e.Err = err
	return e
}

func refused(host string, status int) error {
	text := "answers " + strconv.Itoa(status) + " " + http.StatusText(status)
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		text += "; registries that want a sign-in are not supported"
	case status == http.StatusTooManyRequests:
		text += ": too many were asked of it; try again later"
	case status == http.StatusNotFound:
		text += ": it has no registry API of version v0.1 at this address"
	}
	return event.Fail(event.CodeUnavailable, event.ReasonRegistryFailed,
		[]string{"host", host, "status", strconv.Itoa(status)}, "%s %s", bounds.Printable(host), text)
}

func noAPI(at address) error {
	return event.Fail(event.CodeUnavailable, event.ReasonRegistryFailed, []string{"host", at.Host},
		"%s answers with something that a registry's API v0.1 does not say; look at the address", bounds.Printable(at.Host))
}

func notFound(at address, name string) error {
	return event.Fail(event.CodeNotFound, event.ReasonRegistryServerNotFound, []string{"host", at.Host, "server", name},
		"%s has no server \"%s\" in this version; search for it", bounds.Printable(at.Host), bounds.Printable(name))
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the server"
	}
	return u.Host
}
