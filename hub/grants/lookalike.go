package grants

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
)

// lookAlike maps letters and digits to the Latin letter (or the digit) that they look like, since names of servers are
// written in Latin letters. It has characters of Cyrillic, Greek and Armenian, and of the Latin script itself. It is a
// small part of the confusables of UTS #39, which has thousands.
var lookAlike = map[rune]rune{
	'а': 'a', 'в': 'b', 'е': 'e', 'з': '3', 'і': 'l', 'ї': 'l', 'ј': 'j', 'к': 'k', 'м': 'm', 'н': 'h', 'о': 'o', 'р': 'p',
	'с': 'c', 'т': 't', 'у': 'y', 'х': 'x', 'ѕ': 's',
	'ԁ': 'd', 'ԛ': 'q', 'ԝ': 'w', 'һ': 'h', 'ӏ': 'l', 'г': 'r', 'ь': 'b', 'п': 'n',
	'α': 'a', 'ο': 'o', 'ν': 'v', 'ρ': 'p', 'τ': 't', 'υ': 'u', 'ι': 'l', 'κ': 'k', 'η': 'n', 'χ': 'x', 'γ': 'y', 'ω': 'w',
	'ε': 'e',
	'օ': 'o', 'ս': 'u', 'ց': 'g', 'հ': 'h', 'ո': 'n', 'զ': 'q',
	'ı': 'l', 'i': 'l', 'ɡ': 'g', 'ɑ': 'a', 'ʟ': 'l', '1': 'l', '|': 'l', '!': 'l', '0': 'o', '‐': '-', '‑': '-', '–': '-',
	'—': '-', '−': '-', '_': '-', ' ': '-',
}

// looks returns the same text for names that look alike. The text serves for comparison only.
func looks(name string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(name) {
		r = unicode.ToLower(r)
		if unicode.In(r, unicode.Cf, unicode.Mn) || unicode.IsControl(r) { // invisible, or an accent
			continue
		}
		if like, ok := lookAlike[r]; ok {
			r = like
		}
		b.WriteRune(r)
	}
	return b.String()
}

// LookAlikes reports servers whose names look like the name of an earlier server: a person who reads one name may mean
// the other. Names that differ only in case or in separators are chosen on purpose, and are not reported.
func LookAlikes(servers []config.Server) []event.ConfigProblem {
	first := map[string]config.Server{}
	var problems []event.ConfigProblem
	for _, s := range servers {
		key := looks(s.Name)
		other, found := first[key]
		if !found {
			first[key] = s
			continue
		}
		if separators.Replace(strings.ToLower(s.Name)) == separators.Replace(strings.ToLower(other.Name)) ||
			len(problems) == maxAlike {
			continue
		}
		problems = append(problems, event.ConfigProblem{
			File: s.Origin.File, Line: s.Origin.Line, Server: s.Name,
			Message: fmt.Sprintf(
				"the name %s looks like that of server %s of %s; make sure which of them you mean, or rename one", ascii(s.Name),
				ascii(other.Name), other.Origin.File),
		})
	}
	return problems
}

var separators = strings.NewReplacer("_", "-", " ", "-")

// maxAlike bounds the problems of this kind, since a file may have many names.
const maxAlike = 100

// ascii returns a name in a spelling that no other name has.
func ascii(name string) string { return fmt.Sprintf("%+q", bounds.Cut(name, bounds.NameBytes)) }
