package hub

import (
	"strings"
	"testing"

	"github.com/yosida95/uritemplate/v3"
)

func TestTemplateMatch(t *testing.T) {
	for _, c := range []struct{ template, yes, no string }{
		{"file:///{+path}", "file:///a/b.txt file:/// file:///a%20b?x#y", "file://a http:///a"},
		{"db://{table}/{id}", "db://users/1 db:/// db://a,b/c%2Fd", "db://users db://users/1/2 db://us?rs/1"},
		{"db://{table}", "db:// db://users", "db://users/1 db://u=1"},
		{"x:{a}{b}c", "x:c x:cc x:abcabc", "x: x:abcd"},
		{"x:{/a}", "x: x:/b", "x:b x:/b/c"},
		{"x:{/a*}", "x: x:/b x:/b/c x:/b=1/c=2", "x:b"},
		{"x:{/a,b}/end", "x:/end x:/1/end x:/1/2/end x:/end/end", "x:/1/2"},
		{"x:{.ext}", "x: x:.gz x:.tar.gz", "x:gz"},
		{"x:q{?q,lang}", "x:q x:q?q=1 x:q?lang=en x:q?q=1&lang=en x:q?q=", "x:q?p=1 x:qq=1 x:q?q=1&p=2 x:q?"},
		{"x:q{?q*}", "x:q x:q?any=1&more=2", "x:q&any=1"},
		{"x:q?fixed=1{&q}", "x:q?fixed=1 x:q?fixed=1&q=2", "x:q x:q?fixed=1?q=2"},
		{"x:{;a,b}", "x: x:;a x:;a=1;b=2", "x:;c=1 x:a"},
		{"x:{#part}", "x: x:#a/b", "x:a"},
		{"x:{a:3}{+b}", "x:abc/d", "y:"},
		{"x:fixed", "x:fixed", "x:fixed1 x:fixe"},
		{"{+all}", "a:b a://c", ""},
		{"größe:{a}", "größe:1 gr%C3%B6%C3%9Fe:1", "groesse:1"},
	} {
		compiled, err := CompileTemplate(c.template)
		if err != nil {
			t.Fatal(err)
		}
		for want, uris := range map[bool]string{true: c.yes, false: c.no} {
			for _, uri := range strings.Fields(uris) {
				work := 10_000
				if got := compiled.Match(uri, &work); got != want {
					t.Errorf("%s, %s: %v", c.template, uri, got)
				}
			}
		}
	}
	if _, err := CompileTemplate("x:{"); err == nil {
		t.Error("what is no template is compiled")
	}
}

// TestTemplateMatchIsBounded (finding G5): whatever a server writes as a template and a client as a URI, a match takes
// no more than the work that is given, and that is enough for a template of all kinds of expressions.
func TestTemplateMatchIsBounded(t *testing.T) {
	for template, uri := range map[string]string{
		"x:" + strings.Repeat("{+a}", 100):                       "x:" + strings.Repeat("a", maxExpandedBytes-2),
		"x:" + strings.Repeat("{a}b", 100):                       "x:" + strings.Repeat("ab", maxExpandedBytes/2-1),
		"x:" + strings.Repeat("{/a,b,c,d,e,f,g,h,i*}", 10) + "!": "x:" + strings.Repeat("/", maxExpandedBytes-2),
		"x:{?" + strings.Repeat("a", 10_000) + "1,b}{a}":         "x:" + strings.Repeat("?"+strings.Repeat("a", 300), 200),
		"x:{+a}" + strings.Repeat("a", 30_000) + "b":             "x:" + strings.Repeat("a", 60_000),
	} {
		compiled, err := CompileTemplate(template)
		if err != nil {
			t.Fatal(err)
		}
		const given = 1 << 20
		work := given
		compiled.Match(uri, &work)
		if most := given + maxExpandedBytes; given-work > most {
			t.Errorf("%.40s: %d units of work, at most %d were given", template, given-work, given)
		}
	}
	compiled, _ := CompileTemplate("db://{schema}/{table}{/column*}{.format}{?limit,offset}{&more*}{#part}")
	work := 10_000
	if !compiled.Match("db://public/users/name.json?limit=10&offset=20#row-7", &work) {
		t.Errorf("an ordinary URI is given up, %d are left", work)
	}
}

// What the library expands a template to, the template matches.
func FuzzTemplateMatch(f *testing.F) {
	f.Add("x:{a}{/b}{?a,c*}{#d}", "1", "two/2", "%", "")
	f.Fuzz(func(t *testing.T, template, a, b, c, d string) {
		compiled, err := CompileTemplate(template)
		if err != nil {
			return
		}
		expanded, err := uritemplate.MustNew(template).Expand(uritemplate.Values{"a": uritemplate.String(a),
			"b": uritemplate.List(b, a), "c": uritemplate.KV("k", c, "l", d), "d": uritemplate.String(d)})
		work := 1 << 30
		if err == nil && !compiled.Match(expanded, &work) && len(expanded) <= maxExpandedBytes {
			t.Errorf("%q does not match %q", template, expanded)
		}
	})
}
