package signin

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/mcphub-go/mcphub/hub/config"
)

const maxWorkloadToken = 64 << 10 // the highest size of the file, in bytes

// workloadToken returns the present JWT of GrantWorkload.
//
// The name of the file comes from a configuration, and its content is sent to an authorization server that the MCP
// server names. So only a JWT is ever sent: a name that is wrong, or was chosen to steal a file, reveals no key and no
// password.
func workloadToken(c *config.OAuth) (string, error) {
	if c.WorkloadTokenFile == "" {
		return c.WorkloadToken, nil
	}
	text, err := readSmall(c.WorkloadTokenFile, maxWorkloadToken)
	if err != nil {
		if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
			err = pe.Err // the path must not appear in errors
		}
		return "", fmt.Errorf("the file with the workload token cannot be read: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if !isJWT(token) {
		return "", errors.New("the file with the workload token holds no JWT")
	}
	return token, nil
}

// readSmall reads a file of at most limit bytes. It follows links, since platforms install new tokens by changing a
// link. It refuses a pipe, which would block.
func readSmall(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("it has more than %d bytes", limit)
	}
	return text, err
}

// isJWT reports whether s has the form of a signed JWT (RFC 7515 section 3.1). It verifies nothing.
func isJWT(s string) bool {
	parts := strings.Split(s, ".")
	if len(parts) != 3 || parts[2] == "" {
		return false
	}
	var decoded [3][]byte
	for i, part := range parts {
		var err error
		if decoded[i], err = base64.RawURLEncoding.Strict().DecodeString(part); err != nil {
			return false
		}
	}
	var header struct {
		Algorithm string `json:"alg"`
	}
	return json.Unmarshal(decoded[0], &header) == nil && header.Algorithm != "" && json.Valid(decoded[1])
}
