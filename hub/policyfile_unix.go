//go:build !windows

package hub

import "runtime"

// SystemPolicyFile returns the place of the system's managed policy. Only an administrator can write there, and no
// variable of the environment changes it.
func SystemPolicyFile() string {
	if runtime.GOOS == "darwin" {
		return "/Library/Application Support/McpHub/policy.json"
	}
	return "/etc/mcphub/policy.json"
}
