package hub

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// The examples of RFC 6570 (sections 1.2 and 3.2) whose values are strings.
func TestExpand(t *testing.T) {
	values := map[string]string{"var": "value", "hello": "Hello World!", "half": "50%", "empty": "", "path": "/foo/bar",
		"x": "1024", "y": "768", "base": "http://example.com/rooms/", "v": "6", "who": "fred", "dub": "me/too"}
	for template, want := range map[string]string{
		"{var}": "value", "{hello}": "Hello%20World%21", "{half}": "50%25", "O{empty}X": "OX", "O{undef}X": "OX",
		"{x,y}": "1024,768", "{x,hello,y}": "1024,Hello%20World%21,768", "?{x,empty}": "?1024,", "?{x,undef}": "?1024",
		"?{undef,y}": "?768", "{var:3}": "val", "{var:30}": "value",
		"{+var}": "value", "{+hello}": "Hello%20World!", "{+half}": "50%25", "{base}index": "http%3A%2F%2Fexample.com%2Frooms%2Findex",
		"{+base}index": "http://example.com/rooms/index", "O{+empty}X": "OX", "{+path}/here": "/foo/bar/here",
		"here?ref={+path}": "here?ref=/foo/bar", "up{+path}{var}/here": "up/foo/barvalue/here",
		"{+x,hello,y}": "1024,Hello%20World!,768", "{+path,x}/here": "/foo/bar,1024/here", "{+path:6}/here": "/foo/b/here",
		"{#var}": "#value", "{#hello}": "#Hello%20World!", "foo{#empty}": "foo#", "foo{#undef}": "foo",
		"{#x,hello,y}": "#1024,Hello%20World!,768", "{#path,x}/here": "#/foo/bar,1024/here", "{#path:6}here": "#/foo/bhere",
		"{.who}": ".fred", "{.who,who}": ".fred.fred", "{.half,who}": ".50%25.fred", "X{.var}": "X.value", "X{.empty}": "X.",
		"X{.undef}": "X", "X{.var:3}": "X.val",
		"{/who}": "/fred", "{/who,who}": "/fred/fred", "{/half,who}": "/50%25/fred", "{/who,dub}": "/fred/me%2Ftoo",
		"{/var,empty}": "/value/", "{/var,undef}": "/value", "{/var,x}/here": "/value/1024/here", "{/var:1,var}": "/v/value",
		"{;who}": ";who=fred", "{;half}": ";half=50%25", "{;empty}": ";empty", "{;v,empty,who}": ";v=6;empty;who=fred",
		"{;v,undef,who}": ";v=6;who=fred", "{;x,y}": ";x=1024;y=768", "{;hello:5}": ";hello=Hello",
		"{?who}": "?who=fred", "{?half}": "?half=50%25", "{?x,y}": "?x=1024&y=768", "{?x,y,empty}": "?x=1024&y=768&empty=",
		"{?x,y,undef}": "?x=1024&y=768", "{?var:3}": "?var=val",
		"{&who}": "&who=fred", "?fixed=yes{&x}": "?fixed=yes&x=1024", "{&x,y,empty}": "&x=1024&y=768&empty=",
	} {
		given := map[string]string{}
		for name, value := range values {
			if strings.Contains(strings.NewReplacer("{", ",", "}", ",", ":", ",", ";", ",", "+", ",", "#", ",", "/", ",",
				".", ",", "?", ",", "&", ",").Replace(template), ","+name+",") {
				given[name] = value
			}
		}
		if got, err := Expand(template, given); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", template, got, err, want)
		}
	}
}

// What is no ASCII is escaped as the bytes of its UTF-8, a prefix counts characters, and nothing vanishes.
func TestExpandBeyondASCII(t *testing.T) {
	for template, want := range map[string]string{
		"a:{v}": "a:%C3%BC%E2%82%AC%00%20%2F", "a:{v:2}": "a:%C3%BC%E2%82%AC", "a:{+v}": "a:%C3%BC%E2%82%AC%00%20/",
		"ä:{v:1}": "%C3%A4:%C3%BC",
	} {
		if got, err := Expand(template, map[string]string{"v": "ü€\x00 /"}); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", template, got, err, want)
		}
	}
	if got, err := Expand("{+v}", map[string]string{"v": "%41%4%"}); got != "%41%254%25" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// What is no template, or too large a one, is refused with the reason.
func TestExpandRefuses(t *testing.T) {
	many := strings.Repeat("{a}", 200)
	for template, want := range map[string]string{
		"{": "incomplete", "{a": "incomplete", "{}": "variable name", "a:{!x}": "operator", "{a:0}": "max-length",
		"{a:99999}": "max-length", "{a b}": "variable name", "{{a}}": "variable name", "x}": "unacceptable", "": "empty",
		"{b}": "empty", many: "more than 100 variables", strings.Repeat("a", 70_000): "longer than", "%": "pct",
		"\xff{a}": "UTF-8",
	} {
		_, err := Expand(template, nil)
		wantsRefused(t, template[:min(9, len(template))], err, event.CodeInvalidArgument, event.ReasonInvalidRequest, want)
	}
	_, err := Expand("a:{b}", map[string]string{"c": "x"})
	wantsRefused(t, "unknown", err, event.CodeInvalidArgument, event.ReasonInvalidRequest, `no variable "c"`)
	_, err = Expand("a:{b}", map[string]string{"b": strings.Repeat("ü", 20_000)})
	wantsRefused(t, "long", err, event.CodeInvalidArgument, event.ReasonInvalidRequest, "longer than 64 KiB")
}

func FuzzExpand(f *testing.F) {
	for _, template := range []string{"a:{b}", "{?a,b*}", "{+a:3}{#b}", "{", "{a:99}%41"} {
		f.Add(template, "ü/ %")
	}
	f.Fuzz(func(t *testing.T, template, value string) {
		uri, err := Expand(template, nil)
		if err == nil && uri == "" {
			t.Error("an empty URI")
		}
		if uri, err = Expand(template, map[string]string{"a": value, "b": value}); err == nil {
			for _, c := range []byte(uri) {
				if c <= ' ' || c >= utf8.RuneSelf {
					t.Fatalf("%q holds %q", uri, c)
				}
			}
		}
	})
}

// A template is listed with its variables, each once and in order, and one that is none with what is wrong with it.
func TestTemplatesAreListedWithTheirVariables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("{n}", 101)
		fake := offering("resources/templates/list", func(c *fakeserver.CallContext) {
			c.Result(fmt.Sprintf(`{"resourceTemplates":[{"uriTemplate":"a:{b}/{c,b}{?d*}","name":"x"},`+
				`{"uriTemplate":"a:{!b}","name":"y"},{"uriTemplate":%q,"name":"z"}]}`, long))
		})
		h := newInside(t, Options{}, map[string]*fakeserver.Server{"s": fake}, config.Server{Name: "s"})
		list, err := h.ResourceTemplates(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, one := range list {
			got = append(got, fmt.Sprintf("%s %v %t", one.Name, one.Variables, one.Problem != ""))
		}
		if diff := cmp.Diff([]string{"x [b c d] false", "y [] true", "z [] true"}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
