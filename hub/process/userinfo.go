package process

import (
	"net/url"
	"runtime"
	"strings"
)

// userOf finds the user part ("name:password") of an address: text[from:to]. The address may lack its scheme, as
// proxies are often given ("name:password@proxy:8080"). A password may hold "/", "?" or "#" unescaped, since some
// programs accept that. ok is false if there is no user part.
func userOf(text string) (from, to int, ok bool) {
	if i := strings.Index(text, "://"); i >= 0 {
		from = i + len("://")
	} else if strings.ContainsAny(text, "/\\") || !strings.Contains(text, ":") {
		return 0, 0, false // a path, or a name
	}
	to = strings.LastIndexByte(text[from:], '@')
	return from, from + to, to > 0
}

// withoutUser returns an address without its user part. It returns any other text unchanged.
func withoutUser(text string) string {
	from, to, ok := userOf(text)
	if !ok {
		return text
	}
	return text[:from] + text[to+1:]
}

// Credentials returns the user names and passwords in the addresses that servers may inherit from parent, mostly those
// of proxies, in the forms in which a program may repeat them. A user name alone is among them only if it has no
// password: it is a token then.
func Credentials(parent []string) (values []string) {
	base, _ := baseNames(runtime.GOOS)
	for _, kv := range environment(runtime.GOOS, parent, Own, nil) {
		variable, value, _ := strings.Cut(kv, "=")
		from, to, ok := userOf(value)
		if !ok || matchAny(base, nameFold(runtime.GOOS)(variable)) {
			continue
		}
		name, password, both := strings.Cut(value[from:to], ":")
		secret := name
		if both && password != "" {
			secret = password
			values = append(values, name+":"+password)
		}
		values = append(values, secret)
		// Programs show it as it is or unescaped; Basic authorization holds it together with the name.
		if plain, err := url.PathUnescape(secret); err == nil && plain != secret {
			values = append(values, plain)
			if user, err := url.PathUnescape(name); err == nil && both {
				values = append(values, user+":"+plain)
			}
		}
	}
	return values
}
