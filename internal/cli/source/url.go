package source

import (
	"errors"
	"fmt"
	"net/textproto"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/internal/cli/cmd"
)

// urlFlags describe one server with a URL. Their values may be secret, above all those of headers, so no message quotes
// them.
type urlFlags struct {
	url       string
	transport string
	headers   []string
}

func (u *urlFlags) register(set *pflag.FlagSet) {
	set.StringVar(&u.url, "url", "", "URL\tuse the server there as the one server, named url")
	cmd.ChoiceFlag(set, &u.transport, "transport", "http|sse",
		"with --url: Streamable HTTP, or the older HTTP with SSE; default: find out")
	set.StringArrayVar(&u.headers, "header", nil,
		"NAME:VALUE\twith --url: send this header with each request; may be repeated")
}

// check returns an error if the flags are wrong, by the rules for config files.
func (u *urlFlags) check() error {
	if u.url == "" {
		switch {
		case u.transport != "":
			return errors.New("--transport goes with --url URL")
		case len(u.headers) > 0:
			return errors.New("--header goes with --url URL")
		}
		return nil
	}
	text, err := u.config("", nil)
	if err != nil {
		return err
	}
	_, problems := config.Load([]config.Source{{Scope: "host", JSON: []byte(text)}})
	for _, p := range problems {
		if header, ok := strings.CutPrefix(p.Key, "headers."); ok && p.Fatal {
			return errors.New(strings.TrimSpace("--header "+showable(header)) + ": " + p.Message)
		}
		if p.Fatal {
			return fmt.Errorf("--%s: %s", p.Key, p.Message)
		}
	}
	return nil
}

// showable returns the name of a header, unless it looks like something else, such as a part of a value.
func showable(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_')
	}) {
		return ""
	}
	return name
}

// config returns the config of the server.
func (u *urlFlags) config(era string, connect *time.Duration) (string, error) {
	headers := make(map[string]string, len(u.headers))
	seen := make(map[string]bool, len(u.headers))
	for _, h := range u.headers {
		name, value, ok := strings.Cut(h, ":")
		if name = strings.TrimSpace(name); !ok {
			return "", errors.New("--header: a header is NAME:VALUE, and one of them has no colon")
		}
		if canonical := textproto.CanonicalMIMEHeaderKey(name); seen[canonical] {
			return "", errors.New(strings.TrimSpace("--header "+showable(name)) + ": is given twice")
		} else {
			seen[canonical] = true
		}
		headers[name] = strings.Trim(value, " \t")
	}
	return configOf(urlServer, entry{URL: u.url, Type: u.transport, Headers: headers, Era: era}, connect)
}
