package source

import (
	"testing"
)

func TestURLBecomesConfig(t *testing.T) {
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"--url", "https://a.example/mcp"}, `{"url":"https://a.example/mcp"}`},
		{[]string{"--url", "https://a.example/?a=b&c", "--transport", "http"},
			`{"url":"https://a.example/?a=b\u0026c","type":"http"}`},
		{[]string{"--url", "https://a.example/mcp", "--header", "Authorization: Bearer a:b ", "--header", "X-Empty:"},
			`{"url":"https://a.example/mcp","headers":{"Authorization":"Bearer a:b","X-Empty":""}}`},
	}
	for _, test := range tests {
		got, err := parseSources(t, test.args...).remote.config("", nil)
		if want := `{"mcpServers":{"url":` + test.want + `}}`; err != nil || got != want {
			t.Errorf("%q gives %s, %v; want %s", test.args, got, err, want)
		}
	}
}
