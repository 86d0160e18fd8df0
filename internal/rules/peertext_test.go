package rules

import (
	"go/ast"
	"slices"
	"testing"
)

// readsPeers are the packages that read what servers write.
var readsPeers = []string{"hub/jsonrpc", "hub/mcp", "hub/process", "hub/transport", "hub/schema", "hub/toolset"}

// decodesAll lists files and packages that may decode with encoding/json in these packages and in package hub, each
// with the reason.
var decodesAll = []string{
	"hub/mcp/tools.go",      // a definition, into plain values: canonical JSON for its hash
	"hub/schema",            // the validator's library has types of its own for schemas and values
	"hub/process/guard.go",  // from another process of ours
	"hub/process/ledger.go", // a file of ours
}

// foldedReading finds uses of encoding/json for text of servers. It takes "URL" for the member "url" of a struct, so
// the user could be shown one text while another one is used. Package hub/jsontext compares names exactly. It also
// finds the exemptions that are not needed: a new file with such a name would be exempt.
func foldedReading(t *tree) []violation {
	var bad []violation
	needed := map[string]bool{}
	for _, s := range t.code {
		room := s.in(readsPeers...) || s.dir() == "hub"
		if s.test || s.generated || !room {
			continue
		}
		exempt := slices.IndexFunc(decodesAll, func(f string) bool { return within(f, s.path) })
		s.uses("encoding/json", []string{"Unmarshal", "NewDecoder", "Decoder"}, func(n ast.Node, name string) {
			if exempt >= 0 {
				needed[decodesAll[exempt]] = true
				return
			}
			bad = append(bad, s.at(n, "json.%s folds the case of names: read what a server wrote with hub/jsontext", name))
		})
	}
	for _, f := range decodesAll {
		if !needed[f] {
			bad = append(bad, violation{path: f, text: "does not decode with encoding/json: remove it from decodesAll"})
		}
	}
	return bad
}

func TestPeersAreReadByName(t *testing.T) {
	report(t, foldedReading(repository(t)))
	report(t, without(repository(t), readsPeers))
}

func TestPeersAreReadByNameFindsViolations(t *testing.T) {
	const body = `
import "encoding/json"
var _ = json.Unmarshal(text, &into)
var _ = json.NewDecoder(r)
var _ = json.Valid(text)
var raw json.RawMessage
`
	finds(t, foldedReading(made(t, map[string]string{
		"hub/jsonrpc/a.go":        "package jsonrpc" + body,
		"hub/mcp/a.go":            "package mcp" + body,
		"hub/mcp/a_test.go":       "package mcp" + body,
		"hub/mcp/tools.go":        "package mcp" + body,
		"hub/process/guard.go":    "package process" + body,
		"hub/transport/deep/a.go": "package deep" + body,
		"hub/schema/a.go":         "package schema" + body,
		"hub/a.go":                "package hub" + body,
		"hub/config/a.go":         "package config" + body,
	})), "hub/a.go:3", "hub/a.go:4", "hub/jsonrpc/a.go:3", "hub/jsonrpc/a.go:4", "hub/mcp/a.go:3", "hub/mcp/a.go:4",
		"hub/transport/deep/a.go:3", "hub/transport/deep/a.go:4", "hub/process/ledger.go")
}
