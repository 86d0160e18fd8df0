package config

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
	"golang.org/x/tools/txtar"
)

// The schemas in docs/schema are for editors: they complete the keys of an entry and say what each means. They are made
// here from the tables by which files are read, and written by -update.

type object = map[string]any

func told(description string, more object) object {
	out := object{"description": description}
	for k, v := range more {
		out[k] = v
	}
	return out
}

var (
	anyBool     = object{"type": "boolean"}
	anyText     = object{"type": "string"}
	anyTexts    = object{"type": "array", "items": object{"type": "string"}}
	anyDuration = object{"type": []string{"string", "number"}}
)

// ownSchemas are the hub's own keys.
var ownSchemas = map[string]object{
	"disabled": told("The server is not started, and calls of it are refused.", anyBool),
	"enabled":  told("false: the server is not started, and calls of it are refused.", anyBool),
	"approvals": told("What happens before a tool is called, by its name or a glob with * and ?: any deny wins, then an "+
		"exact name, then the longest glob; default ask.", object{"type": "object",
		"additionalProperties": object{"enum": []string{"allow", "ask", "deny"}}}),
	"timeouts": told("Durations such as \"90s\", or seconds; 0 is none.", object{"type": "object", "properties": object{
		"connect": told("From the start of the server to the end of the handshake; default 60s.", anyDuration),
		"idle":    told("Of a call, without progress; default 5m.", anyDuration),
		"total":   told("Of a call, without the time that a person takes; default 1h.", anyDuration),
		"human":   told("Of a question to a person; default 30m.", anyDuration),
	}}),
	"stop": told("How long each stage of stopping the server waits.", object{"type": "object", "properties": object{
		"stdin":     told("After its stdin is closed; default 2s.", anyDuration),
		"terminate": told("After SIGTERM; default 2s.", anyDuration),
		"kill":      told("After SIGKILL; default 1s.", anyDuration),
	}}),
	"era": told(
		"Which protocol family to speak: legacy is up to revision 2025-11-25, modern from 2026-07-28 on; auto, the "+
			"default, probes.", object{"enum": []string{"auto", "legacy", "modern"}}),
	"maxMessageBytes": told("The longest message of the server, in bytes; default 64 MiB.", object{"type": "integer",
		"minimum": 0}),
	"start": told("When it is started: on the first use (the default), or as soon as the config is read.",
		object{"enum": []string{"lazy", "eager"}}),
	"idleStop":   told("Stop it when nothing has used it for so long; default never.", anyDuration),
	"memory":     told("Is not kept any more: the hub does not limit memory.", object{}),
	"inheritEnv": told("Names of your variables that the server gets as they are; what env says wins.", anyTexts),
}

// profileSchemas are the keys of a profile.
var profileSchemas = object{
	"servers": told("Names or globs of servers; without it all.", anyTexts),
	"tools": told("By the name or glob of a server: names or globs of the tools that there are of it.",
		object{"type": "object", "additionalProperties": anyTexts}),
	"approval": told("Who agrees to the calls of a gateway's clients; default window.",
		object{"enum": []string{"window", "client"}}),
	"questions": told("Who is asked what servers ask in the course of a client's call; default client.",
		object{"enum": []string{"client", "window", "either"}}),
	"toolsMode": told("How a gateway lists tools; default all.", object{"enum": []string{"all", "search", "auto"}}),
	"maxTokens": told("A bound on the results of a gateway's tools; default none.",
		object{"type": "integer", "minimum": 0}),
	"plainNames": told("Tools keep their servers' names where no two are alike; default false.", anyBool),
}

// theirSchemas are the keys of the applications, as they are read in every dialect that has them.
var theirSchemas = map[string]object{
	"type":    told("How the server is reached.", anyText),
	"command": told("What is run: a name to be found, or a path.", object{"type": []string{"string", "array", "object"}}),
	"args":    told("The arguments, each as a text of its own.", anyTexts),
	"env": told("Variables of the server; null takes one away.", object{"type": "object",
		"additionalProperties": object{"type": []string{"string", "number", "boolean", "null"}}}),
	"cwd": told("Where it runs; a relative one begins beside the file, of a workspace at its folder.", anyText),
	"url": told("The address of a server, http or https.", anyText),
	"headers": told("Sent with every request. An Authorization of yours switches the sign-in off.",
		object{"type": "object"}),
	"envFile":     told("A file of further variables, NAME=value in each line; what env says wins.", anyText),
	"oauth":       told("How to sign in, where the server's metadata do not say all of it.", nil),
	"timeout":     told("A timeout in the application's own unit; timeouts of the hub's own has units.", nil),
	"alwaysAllow": told("Tools that are called without a question: names, or globs with * and ?.", nil),
	"autoApprove": told("Tools that are called without a question: names, or globs with * and ?.", nil),
}

// theirWords describe the applications' other keys.
var theirWords = map[string]string{
	"serverUrl": "The address of a server, http or https.", "httpUrl": "The address of a Streamable HTTP server.",
	"transport": "How the server is reached.", "transportType": "How the server is reached.",
	"environment": "Variables of the server; null takes one away.", "http_headers": "Sent with every request.",
	"dev": "watch: patterns of files whose change restarts the server.", "isActive": "false: the server is not started.",
	"watchPaths":     "Patterns of files whose change restarts the server.",
	"sandboxEnabled": "true is refused: the hub has no sandbox.",
	"tools":          "The tools that there are, or what happens before they are called.",
	"disabledTools":  "Tools that there are not.", "disabled_tools": "Tools that there are not.",
	"enabled_tools": "The tools that there are.", "includeTools": "The tools that there are.",
	"excludeTools": "Tools that there are not.", "trust": "true: all tools are called without a question.",
	"auth": "The client with which to sign in.", "oauthClient": "The client with which to sign in.",
	"authProviderType": "How to sign in.", "scopes": "What to ask for when signing in.",
	"oauth_callback_port": "The port of the sign-in's answer.", "oauth_client_id": "The client with which to sign in.",
	"oauth_client_secret":         "The secret of the client with which to sign in.",
	"oauth_scopes":                "What to ask for when signing in.",
	"env_vars":                    "Names of your variables that the server gets as they are.",
	"env_http_headers":            "Headers whose values are those of your variables.",
	"bearer_token_env_var":        "Your variable that holds the token for Authorization.",
	"bearer_token":                "Is refused; name the variable that holds the token in bearer_token_env_var.",
	"required":                    "true: it is started as soon as the config is read.",
	"startup_timeout_sec":         "What the start may take, in seconds.",
	"startup_timeout_ms":          "What the start may take, in milliseconds.",
	"tool_timeout_sec":            "What a call may take, in seconds.",
	"oauth_resource":              "Is not followed: the hub asks for tokens of the server's own address.",
	"sandbox":                     "Is not followed: the hub has no sandbox.",
	"network":                     "Is not followed: the hub has no sandbox.",
	"filesystem":                  "Is not followed: the hub has no sandbox.",
	"headersHelper":               "Is not followed: the hub runs no commands of a config file.",
	"tcp":                         "Is not followed: the hub speaks no WebSocket.",
	"default_tools_approval_mode": "What happens before a tool is called.",
}

// schemaOf returns the schema of the files of a dialect.
func schemaOf(t *testing.T, d *dialect) object {
	same := func(a, b meaning) bool { return reflect.ValueOf(a.read).Pointer() == reflect.ValueOf(b.read).Pointer() }
	properties := object{}
	for name, m := range d.keys {
		known := theirSchemas[name]
		switch {
		case same(m, quiet):
			known = told("Is the application's own, and of no use here.", nil)
		case known == nil && theirWords[name] != "":
			known = told(theirWords[name], nil)
		case known == nil && ownSchemas[name] == nil:
			t.Errorf("%s: nothing says what the key %q means", d.name, name)
		}
		properties[name] = known
	}
	for name := range own {
		if properties[name] = ownSchemas[name]; ownSchemas[name] == nil {
			t.Errorf("nothing says what the hub's own key %q means", name)
		}
	}
	for name := range ownSchemas {
		if _, ours := own[name]; !ours {
			t.Errorf("the schema has %q, which the hub does not read", name)
		}
	}
	return object{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "MCP servers as McpHub reads them from files of " + d.title,
		"type":    "object",
		"properties": object{
			"$schema": object{"type": "string"},
			ownKey: told("Settings of the hub that are of no single server.", object{"type": "object", "properties": object{
				"profiles": told("Which tools a model or a client of the gateway gets, by the names of the profiles.",
					object{"type": "object", "additionalProperties": object{"type": "object", "properties": profileSchemas}}),
			}}),
			holder(d.name): told("The servers by their names.", object{"type": "object",
				"additionalProperties": object{"$ref": "#/$defs/server"}}),
		},
		"$defs": object{"server": object{"type": "object", "properties": properties}},
	}
}

// TestSchemasOfDialects: each schema has the keys that the reader knows, no others, and all that it does not know is
// allowed: the applications have more.
func TestSchemasOfDialects(t *testing.T) {
	words := map[string]bool{}
	for name, d := range dialects {
		for key := range d.keys {
			words[key] = true
		}
		made, err := json.MarshalIndent(schemaOf(t, d), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, '\n')
		file := filepath.Join("..", "..", "docs", "schema", name+".json")
		if *update {
			if err := os.WriteFile(file, made, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		kept, err := os.ReadFile(file)
		kept = bytes.ReplaceAll(kept, []byte("\r\n"), []byte("\n"))
		if diff := cmp.Diff(string(kept), string(made)); err != nil || diff != "" {
			t.Errorf("%s is not what is read, run with -update: %v\n%s", file, err, diff)
		}
	}
	for _, names := range []any{theirSchemas, theirWords} {
		for _, name := range reflect.ValueOf(names).MapKeys() {
			if !words[name.String()] {
				t.Errorf("no application has the key %q", name)
			}
		}
	}
}

// TestSchemasTakeWhatTheReaderTakes: every file of testdata that is read without an error is valid, with "$schema" in
// it too, and what the reader refuses of the hub's own keys is not.
func TestSchemasTakeWhatTheReaderTakes(t *testing.T) {
	valid := map[string]*jsonschema.Resolved{}
	for name, d := range dialects {
		text, err := json.Marshal(schemaOf(t, d))
		if err != nil {
			t.Fatal(err)
		}
		var s jsonschema.Schema
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		if valid[name], err = s.Resolve(nil); err != nil {
			t.Fatal(err)
		}
	}
	checked := 0
	for name := range dialects {
		files, _ := filepath.Glob("testdata/" + name + "/*.txtar")
		for _, file := range files {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sources, _, _ := unpack(t, ar)
			for _, src := range sources {
				servers, problems := All([]Source{src})
				fatal := len(servers) == 0
				for _, p := range problems {
					fatal = fatal || p.Fatal
				}
				if fatal {
					continue
				}
				dialect, value := servers[0].Origin.Dialect, any(nil)
				if isTOML(src, dialect, src.JSON) {
					err = toml.Unmarshal(src.JSON, &value)
				} else if src.JSON, err = hujson.Standardize(bytes.TrimPrefix(src.JSON, []byte("\xEF\xBB\xBF"))); err == nil {
					err = json.Unmarshal(src.JSON, &value)
				}
				if err == nil {
					err = valid[dialect].Validate(value)
				}
				if err != nil {
					t.Errorf("%s of %s as %s: %v", src.Path, file, dialect, err)
				}
				checked++
			}
		}
	}
	if checked < 30 {
		t.Errorf("only %d files were checked", checked)
	}
	for name := range dialects {
		command := any("a")
		if name == DialectOpencode {
			command = []any{"a"}
		}
		entry := map[string]any{"type": "stdio", "command": command}
		if name == DialectCodex {
			delete(entry, "type")
		}
		file := map[string]any{"$schema": "https://example.com/s.json", holder(name): map[string]any{"s": entry}}
		text, _ := json.Marshal(file)
		servers, problems := Load([]Source{{JSON: text, Dialect: name, Scope: "user"}})
		if err := valid[name].Validate(file); err != nil || len(servers) != 1 || len(problems) != 0 {
			t.Errorf("%s: %v, %d servers, %v", name, err, len(servers), problems)
		}
		for key, bad := range map[string]any{"era": "old", "start": "now", "timeouts": 7.0, "maxMessageBytes": -1.0,
			"disabled": "yes", "approvals": map[string]any{"a": "maybe"}, "inheritEnv": "A"} {
			entry[key] = bad
			text, _ := json.Marshal(file)
			_, problems := Load([]Source{{JSON: text, Dialect: name, Scope: "user"}})
			if valid[name].Validate(file) == nil || len(problems) == 0 {
				t.Errorf("%s takes %s: %v, the reader says %v", name, key, bad, problems)
			}
			delete(entry, key)
		}
	}
}
