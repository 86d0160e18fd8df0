package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestConditionsKeepTheirOrder: a resolver takes the first condition of "exports" that matches, so "types" must come
// before "default". The package has the .proto files of the contract, too.
func TestConditionsKeepTheirOrder(t *testing.T) {
	r := release{version: testVersion, root: t.TempDir(), out: t.TempDir()}
	real, err := os.ReadFile("../../editors/host/package.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"LICENSE": "", "editors/host/README.md": "",
		"editors/host/dist/index.js": "", "editors/host/package.json": string(real),
		"proto/mcphub/v1/hub.proto": "", "proto/mcphub/v1/hub.pb.go": ""} {
		path := filepath.Join(r.root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r.hostPackage()
	file := filepath.Join(r.out, tarballName(scope+"/host", testVersion))
	text, err := exec.Command("tar", "-xzOf", file, "package/package.json").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`"types": "[^"]*",\s*"default":`).Match(text) {
		t.Errorf("the conditions are in another order:\n%s", text)
	}
	list, err := exec.Command("tar", "-tzf", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(list), "package/proto/mcphub/v1/hub.proto\n") || strings.Contains(string(list), ".pb.go") {
		t.Errorf("the contract is not in the package as it should be:\n%s", list)
	}
}

// TestTypesOfTheAPI: the package contains the same types as the extension, at the place where a compiler looks for
// them.
func TestTypesOfTheAPI(t *testing.T) {
	r := release{version: testVersion, root: "../..", out: t.TempDir()}
	r.apiPackage()
	read := func(name string) string {
		text, err := exec.Command("tar", "-xzOf", filepath.Join(r.out, tarballName(scope+"/vscode-api", testVersion)),
			"package/"+name).Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	want, err := os.ReadFile("../../editors/vscode/api.d.ts")
	if err != nil {
		t.Fatal(err)
	}
	if read("index.d.ts") != string(want) {
		t.Error("the types differ from editors/vscode/api.d.ts, which the extension has")
	}
	if manifest := read("package.json"); !regexp.MustCompile(`"types": "./index.d.ts"`).MatchString(manifest) {
		t.Errorf("the manifest is %s", manifest)
	}
}
