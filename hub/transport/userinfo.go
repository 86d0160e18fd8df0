package transport

import (
	"net/url"
	"runtime"
	"strings"
)

// userOf finds the user part ("name:password") in the text of an address, which may lack its scheme, as proxies are
// given ("name:password@proxy:8080"). Passwords with "/", "?" or "#" that nobody has escaped are found, too: programs
// differ in what they take. ok is false where there is none.
func userOf(text string) (from, to int, ok bool) {
	if i := strings.Index(text, "://"); i >= 0 {
		from = i + len("://")
	} else if strings.ContainsAny(text, "/\\") || !strings.Contains(text, ":") {
		return 0, 0, false // a path, or a name
	}
	to = strings.LastIndexByte(text[from:], '@')
	return from, from + to, to > 0
}

// withoutUser is an address without its user and password; any other text is as it was.
func withoutUser(text string) string {
	from, to, ok := userOf(text)
	if !ok {
		return text
	}
	return text[:from] + text[to+1:]
}

// Credentials are the user names and passwords in the addresses that servers may inherit from parent, of proxies above
// all, in the forms in which a program may repeat them. A name is one where no password follows: it is a token then.
func Credentials(parent []string) (values []string) {
	base, _ := baseNames(runtime.GOOS)
	for _, kv := range environment(runtime.GOOS, parent, Own, nil) {
		variable, value, _ := strings.Cut(kv, "=")
		from, to, ok := userOf(value)
		if !ok || matchAny(base, folder(runtime.GOOS)(variable)) {
			continue
		}
		name, password, both := strings.Cut(value[from:to], ":")
		secret := name
		if both && password != "" {
			secret = password
			values = append(values, name+":"+password)
		}
		values = append(values, secret)
		// programs show it as it is, or unescaped; in Basic authorization it is with its name
		if plain, err := url.PathUnescape(secret); err == nil && plain != secret {
			values = append(values, plain)
			if user, err := url.PathUnescape(name); err == nil && both {
				values = append(values, user+":"+plain)
			}
		}
	}
	return values
}
