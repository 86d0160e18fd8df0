package mcp

import (
	"encoding/json"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/schema"
)

// NotChecked is the prefix of an entry of CheckOutput that is no violation: the result could not be checked, and the
// rest of the text says why.
const NotChecked = "not checked: "

const absentStructure = "structuredContent is absent, although the tool has an outputSchema"

// OutputChecker returns a checker for the results of a server's tools. It may outlive a session: it keeps only data
// about schemas.
func OutputChecker(account *bounds.Account) *schema.Checker {
	return &schema.Checker{Schema: "outputSchema", Value: "structuredContent", Account: account}
}

// CheckOutput compares the structuredContent of a tool's result with the tool's outputSchema. It returns the violations
// as bounded texts for people, to be shown beside the result and never instead of it; they may quote the result and
// must not be logged. It returns nil if the result conforms, if the tool has no schema, or if the result reports an
// error of the tool, which need not conform (server/tools, "Output Schema", since 2025-06-18).
//
// Up to 2025-11-25 structuredContent is an object; 2026-07-28 allows any value, including null, which differs from an
// absent one. If the result was not checked (see [schema.Checker]), the only entry begins with NotChecked.
//
// It takes about a second at most. It is safe for concurrent use, also after the session has ended.
func (s *Session) CheckOutput(outputSchema, result json.RawMessage) []string {
	if outputSchema == nil || isNull(outputSchema) || string(member(result, "isError")) == "true" {
		return nil
	}
	content := member(result, "structuredContent")
	switch {
	case content == nil:
		return []string{absentStructure}
	case s.Era() != Modern && content[0] != '{':
		return []string{"structuredContent is no JSON object, as it must be in revision " + s.Revision()}
	}
	switch v := s.outputs.Check(outputSchema, content); {
	case v.NotChecked != "":
		return []string{NotChecked + v.NotChecked}
	case v.Violation != "":
		return []string{"structuredContent does not conform to the outputSchema: " + v.Violation}
	}
	return nil
}
