package toolargs

import (
	"strings"
	"testing"
)

const plantDefinition = `{"name":"plant","inputSchema":{"type":"object","required":["kind","count"],"properties":{
	"kind":{"enum":["oak","elm"],"description":"Which\n tree"},
	"count":{"type":"integer","default":2},
	"depth":{"type":["number","null"]},
	"wet":{"type":"boolean"},
	"label":{"type":"string"},
	"tags":{"type":"array","items":{"type":"string"}},
	"sizes":{"type":"array","items":{"type":"integer"}},
	"any":{},
	"dotted.name":{"type":"string"},
	"place":{"$ref":"#/$defs/place"},
	"loop":{"$ref":"#/$defs/loop"},
	"either":{"anyOf":[{"type":"integer"},{"type":"string"}]}},
	"$defs":{"place":{"type":"object","properties":{"x":{"type":"number"},"in":{"type":"object"}}},
		"loop":{"$ref":"#/$defs/loop"}}}}`

// TestArgumentsAreTypedBySchema: a value gets the type that the schema says; one that does not fit is refused by its
// name, and no refusal repeats the value.
func TestArgumentsAreTypedBySchema(t *testing.T) {
	schema := Read(plantDefinition)
	for _, test := range []struct{ args, pairs, want, wrong string }{
		{"", "kind=oak count=3", `{"count":3,"kind":"oak"}`, ""},
		{`{"count":1.0,"label":"<b>"}`, "wet=true", `{"count":1.0,"label":"<b>","wet":true}`, ""},
		{"", "depth=1e3", `{"depth":1e3}`, ""},
		{"", "depth=null", `{"depth":null}`, ""},
		{"", "label=7", `{"label":"7"}`, ""},
		{"", "label=a=b", `{"label":"a=b"}`, ""},
		{"", "label=", `{"label":""}`, ""},
		{"", "tags=a tags=b", `{"tags":["a","b"]}`, ""},
		{"", `sizes=[1,2] sizes=3`, `{"sizes":[1,2,3]}`, ""},
		{"", "any=7", `{"any":7}`, ""},
		{"", "any=text", `{"any":"text"}`, ""},
		{"", "dotted.name=x", `{"dotted.name":"x"}`, ""},
		{"", `place.x=1 place.in.deep=y`, `{"place":{"in":{"deep":"y"},"x":1}}`, ""},
		{"", `place={"x":1}`, `{"place":{"x":1}}`, ""},
		{"", "either=7", `{"either":7}`, ""},
		{"", "either=x", `{"either":"x"}`, ""},
		{"", "loop=7", `{"loop":7}`, ""},
		{"", "count=s3cret", "", "-a count: the schema wants integer"},
		{"", "count=1.5", "", "-a count: the schema wants integer"},
		{"", "wet=s3cret", "", "-a wet: the schema wants boolean"},
		{"", "kind=s3cret", "", `-a kind: the schema wants one of "oak", "elm"`},
		{"", "sizes=s3cret", "", "-a sizes: the schema wants array of integer"},
		{"", "cuont=1", "", `-a cuont: the tool has no such argument; it has count, kind, any, `},
		{"", "cuont=1", "", `, wet; did you mean "count"?`},
		{"", "nowhere=1", "", "-a nowhere: the tool has no such argument; it has count, kind, any, "},
		{"", "place.y=s3cret", "", "-a place.y: the tool has no such argument"},
		{"", "count.x=s3cret", "", "-a count.x: count is to be integer"},
		{"", "count=1 count=2", "", "-a count: is given twice"},
		{"", "s3cret", "", "NAME=VALUE"},
		{"[1]", "count=1", "", "--args: it is a JSON object"},
	} {
		got, err := WithPairs(test.args, strings.Fields(test.pairs), &schema)
		if test.wrong == "" && (err != nil || got != test.want) {
			t.Errorf("%s %s: %s, %v; want %s", test.args, test.pairs, got, err, test.want)
		}
		if test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong) ||
			strings.Contains(err.Error(), "s3cret")) {
			t.Errorf("%s %s: %s, error %v, want one with %q", test.args, test.pairs, got, err, test.wrong)
		}
		if err != nil && strings.Contains(err.Error(), "?;") {
			t.Errorf("%s: the question is followed by something else: %v", test.pairs, err)
		}
	}
}
