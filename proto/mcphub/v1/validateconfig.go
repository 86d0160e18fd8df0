package mcphubv1

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// This file is written by hand, as validate.go is: the checks of the requests that write config files.

const (
	maxEntry    = 256 << 10
	maxValues   = 1000 // elements of a list or a map
	maxSettings = 1000 // elements
	maxPattern  = 1024
)

// Validate implements the validator of the gRPC server.
func (x *AddServerRequest) Validate() error {
	err := first(target(x.GetServer(), x.GetConfigFile()), label("written_by", x.GetWrittenBy()),
		id("proposal_id", x.GetProposalId()), within("settings", x.GetSettings().check()))
	if !slices.Contains(dialects, x.GetEntryDialect()) {
		err = first(err, errors.New("entry_dialect: must be empty or one of "+strings.Join(dialects[1:], ", ")))
	}
	err = first(err, inputs(x.GetInputs()))
	switch entry := x.GetEntry().(type) {
	case *AddServerRequest_Form:
		if x.GetChangedForm() != nil {
			err = first(err, errors.New("changed_form: goes with entry_json"))
		}
		return first(err, within("form", entry.Form.check()))
	case *AddServerRequest_EntryJson:
		if x.GetChangedForm() != nil {
			err = first(err, within("changed_form", x.GetChangedForm().check()))
		}
		return first(err, required("entry_json", entry.EntryJson, maxEntry))
	}
	return first(err, errors.New("entry: set one of form and entry_json"))
}

// Validate implements the validator of the gRPC server.
func (x *ReadConfigTextRequest) Validate() error {
	err := atMost("text", x.GetText(), maxEntry)
	if !slices.Contains(dialects, x.GetDialect()) {
		err = first(err, errors.New("dialect: must be empty or one of "+strings.Join(dialects[1:], ", ")))
	}
	return err
}

// Validate implements the validator of the gRPC server.
func (x *GetServerEntryRequest) Validate() error { return target(x.GetServer(), x.GetConfigFile()) }

func inputs(list []*EntryInput) error {
	if len(list) > maxValues {
		return fmt.Errorf("inputs: more than %d", maxValues)
	}
	size := 0
	for _, in := range list {
		if err := required("inputs.id", in.GetId(), maxID); err != nil {
			return err
		}
		if in.GetSecret() && in.GetDefault() != "" {
			return errors.New("inputs.default: a secret has none, as it would stand in the file")
		}
		size += len(in.GetDescription()) + len(in.GetDefault())
		for _, o := range in.GetOptions() {
			size += len(o)
		}
	}
	if size > maxEntry {
		return fmt.Errorf("inputs: are longer than %d bytes", maxEntry)
	}
	return nil
}

// Validate implements the validator of the gRPC server.
func (x *UpdateServerRequest) Validate() error {
	err := first(target(x.GetServer(), x.GetConfigFile()), label("written_by", x.GetWrittenBy()),
		atMost("patch_json", x.GetPatchJson(), maxEntry), within("settings", x.GetSettings().check()), inputs(x.GetInputs()))
	if x.GetForm() != nil {
		return first(err, within("form", x.GetForm().check()))
	}
	if x.GetPatchJson() == "" && x.GetSettings() == nil {
		return first(err, errors.New("form: nothing changes; set form, patch_json or settings"))
	}
	return err
}

// Validate implements the validator of the gRPC server.
func (x *RemoveServerRequest) Validate() error { return target(x.GetServer(), x.GetConfigFile()) }

// Validate implements the validator of the gRPC server.
func (x *UndoConfigWriteRequest) Validate() error {
	return first(label("written_by", x.GetWrittenBy()), id("undo_id", x.GetUndoId()))
}

func target(server, file string) error {
	return first(required("server", server, maxName), atMost("config_file", file, maxURI))
}

func (x *ServerForm) check() error {
	err := first(atMost("command", x.GetCommand(), maxURI), atMost("directory", x.GetDirectory(), maxURI),
		atMost("url", x.GetUrl(), maxURI), known("transport", x.GetTransport()))
	if (x.GetCommand() == "") == (x.GetUrl() == "") {
		err = first(err, errors.New("command: set one of command and url"))
	}
	for field, n := range map[string]int{"args": len(x.GetArgs()), "environment": len(x.GetEnvironment()),
		"unset_environment": len(x.GetUnsetEnvironment()), "headers": len(x.GetHeaders())} {
		if n > maxValues {
			err = first(err, fmt.Errorf("%s: more than %d", field, maxValues))
		}
	}
	size := 0
	for _, s := range slices.Concat(x.GetArgs(), x.GetUnsetEnvironment()) {
		size += len(s)
	}
	for _, m := range []map[string]string{x.GetEnvironment(), x.GetHeaders()} {
		for name, value := range m {
			size += len(name) + len(value)
		}
	}
	if size > maxEntry {
		err = first(err, fmt.Errorf("args: arguments, environment and headers together are longer than %d bytes", maxEntry))
	}
	return err
}

func (x *ServerSettings) check() error {
	t := x.GetTimeouts()
	err := first(clock("timeouts.connect", t.GetConnect()), clock("timeouts.idle", t.GetIdle()),
		clock("timeouts.total", t.GetTotal()), clock("timeouts.human", t.GetHuman()))
	for _, name := range t.GetToDefault() {
		if !slices.Contains([]string{"connect", "idle", "total", "human"}, name) {
			err = first(err, errors.New("timeouts.to_default: must be connect, idle, total or human"))
		}
	}
	if len(t.GetToDefault()) > maxValues || len(x.GetApprovals()) > maxSettings {
		err = first(err, fmt.Errorf("approvals: more than %d", maxSettings))
	}
	for tool, policy := range x.GetApprovals() {
		err = first(err, required("approvals", tool, maxPattern), known("approvals", policy))
	}
	return err
}
