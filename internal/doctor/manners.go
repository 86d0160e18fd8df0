package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/hub/transport"
)

const (
	codeMethodNotFound = -32601
	// quiet is how long a server may take to answer an unknown method. Hubs that probe for newer methods wait for this
	// time.
	quiet = 2 * time.Second
)

// declared lists the capabilities, each with the request that shows whether it is served.
var declared = []struct{ capability, check, method, params string }{
	{"tools", "capability.tools", "tools/list", ""},
	{"prompts", "capability.prompts", "prompts/list", ""},
	{"resources", "capability.resources", "resources/list", ""},
	{"logging", "capability.logging", "logging/setLevel", `{"level":"warning"}`},
}

// manners compares what the server declares with what it does, and sends it messages that a well-behaved client does
// not send.
func (e *examination) manners(ctx context.Context) {
	e.doing("capabilities, unknown methods, stray cancels")
	starting, cancel := e.starting(ctx)
	defer cancel()
	v, err := e.visit(starting, process.Grace{})
	if err != nil {
		e.find("start.ready", mcp.EraLegacy, Mend, "another start failed: %s", words(err))
		return
	}
	defer v.close()
	answer, err := v.initialize(starting, e.o.Client, mcp.Revision20251125)
	if err != nil {
		e.find("start.ready", mcp.EraLegacy, Mend, "another initialize failed: %s", words(err))
		return
	}
	capabilities := jsontext.Get(answer, "capabilities")
	for _, d := range declared {
		e.declares(ctx, v, d.capability, d.check, d.method, d.params, jsontext.Get(capabilities, d.capability) != nil)
	}
	e.unknown(ctx, v)
	e.strayCancels(ctx, v)
}

// declares compares one capability with the answer to its request.
func (e *examination) declares(ctx context.Context, v *visit, capability, check, method, params string,
	does bool) {
	asking, cancel := e.patient(ctx)
	if !does { // if it is not declared, only the answer matters, so the wait is short
		asking, cancel = context.WithTimeoutCause(ctx, quiet, errExamined)
	}
	defer cancel()
	answer, _, err := v.ask(asking, method, params)
	switch {
	case does && err != nil:
		e.find(check, mcp.EraLegacy, Mend, "it declares %s, and %s fails: %s", capability, method, words(err))
	case does:
		e.find(check, mcp.EraLegacy, Good, "it declares %s, and %s works", capability, method)
	case err == nil && offers(answer):
		e.find("capability.undeclared", mcp.EraLegacy, Improve, "it does not declare %s, and %s works all the same",
			capability, method)
	}
}

// offers reports whether a list has any entry. SDKs answer with empty lists for capabilities that are not declared.
func offers(list json.RawMessage) (something bool) {
	jsontext.Members(list, func(_ []byte, value json.RawMessage) bool {
		jsontext.Elements(value, func(json.RawMessage) bool { something = true; return false })
		return !something
	})
	return something
}

// unknown calls a method that no server has.
func (e *examination) unknown(ctx context.Context, v *visit) {
	ctx, cancel := context.WithTimeoutCause(ctx, quiet, errExamined)
	defer cancel()
	_, took, err := v.ask(ctx, "mcphub/doctor", "")
	number, answered := code(err)
	switch {
	case answered && number == codeMethodNotFound:
		e.find("era.unknown", mcp.EraLegacy, Good, "an unknown method was answered with -32601 after %s", span(took))
	case answered:
		e.find("era.unknown", mcp.EraLegacy, Improve, "an unknown method was answered with %d: %s", number, words(err))
	case err == nil:
		e.find("era.unknown", mcp.EraLegacy, Mend, "an unknown method was answered with a result")
	case ctx.Err() != nil:
		e.find("era.unknown", mcp.EraLegacy, Mend, "an unknown method was not answered within %v", quiet)
	default:
		level := Mend
		if refused, ok := errors.AsType[*transport.HTTPError](err); ok && refused.Status != 0 {
			level = Improve // it is an answer, if none of JSON-RPC
		}
		e.find("era.unknown", mcp.EraLegacy, level, "an unknown method failed after %s: %s", span(took), words(err))
	}
}

// strays are cancels that must do no harm: with an unknown id, without an id, with an invalid id, without params.
var strays = []string{`{"requestId":987654321,"reason":"stray"}`, `{"reason":"stray"}`,
	`{"requestId":{"no":"id"},"reason":17}`, ""}

func (e *examination) strayCancels(ctx context.Context, v *visit) {
	for _, params := range strays {
		if err := v.peer.Notify("notifications/cancelled", []byte(params)); err != nil {
			e.find("cancel.unknown", mcp.EraLegacy, Mend, "after a stray cancel the connection was gone: %s",
				words(v.explained(err)))
			return
		}
	}
	pinging, cancel := e.patient(ctx)
	defer cancel()
	if _, _, err := v.ask(pinging, "ping", ""); err != nil {
		e.find("cancel.unknown", mcp.EraLegacy, Mend,
			"cancels of unknown and malformed ids, then a ping: the ping failed: %s", words(err))
		return
	}
	e.find("cancel.unknown", mcp.EraLegacy, Good, "cancels of unknown and malformed ids did no harm")
}
