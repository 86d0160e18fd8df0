package mcp

import (
	"encoding/json"
	"testing"
)

// What is read of a progress notification is what encoding/json reads of it.
func TestReadProgress(t *testing.T) {
	for _, params := range []string{
		`{"progressToken":1,"progress":2}`, `{"progressToken":"1","progress":2.5,"total":10,"message":"half"}`,
		`{ "progressToken" : 1 , "progress" : -2e3 }`,
		`{"progressToken":1,"progress":2,"total":null,"message":null}`, `{"progressToken":1,"progress":null}`,
		`{"progressToken":1}`, `{}`, `null`, `[1]`, `5`,
		`{"progressToken":1,"progress":"2"}`, `{"progressToken":1,"progress":true}`, `{"progressToken":1,"progress":1e999}`,
		`{"progressToken":1,"progress":[1]}`,
		`{"progressToken":1,"progress":2,"total":"10"}`, `{"progressToken":1,"progress":2,"message":5}`,
		`{"progressToken":1,"progress":2,"message":{}}`,
		`{"progressToken":1,"progress":2,"progress":3}`,
		`{"progressToken":1,"progressToken":2,"progress":3,"total":1,"total":2}`,
		`{"progressToken":1,"progress":2,"message":"\u00e4\n\"quoted\""}`, `{"progressToken":1,"progress":2,"message":"ä"}`,
		"{\"progressToken\":1,\"progress\":2,\"message\":\"\xff\"}",
		`{"progressToken":1,"progress":2,"message":""}`, `{"pro\u0067ress":2,"progressToken":{"a":[1,"}"]}}`,
		`{"progress":0,"_meta":{"progress":"x"}}`,
	} {
		var want struct {
			Token    json.RawMessage `json:"progressToken"`
			Progress *float64        `json:"progress"`
			Total    *float64        `json:"total"`
			Message  string          `json:"message"`
		}
		err := json.Unmarshal([]byte(params), &want)
		token, p, ok := readProgress(json.RawMessage(params))
		if ok != (err == nil && want.Progress != nil) {
			t.Errorf("%s: ok is %v, and encoding/json says %v, %v", params, ok, err, want.Progress)
			continue
		}
		if !ok {
			continue
		}
		if string(token) != string(want.Token) || p.Progress != *want.Progress || p.HasTotal != (want.Total != nil) ||
			p.HasTotal && p.Total != *want.Total || p.Message != want.Message {
			t.Errorf("%s: %s %+v, and encoding/json reads %+v", params, token, p, want)
		}
	}
}
