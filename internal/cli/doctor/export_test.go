package doctor

import "testing"

// UsePolicyFile replaces the place of the system's managed policy until the end of a test.
func UsePolicyFile(t *testing.T, file string) {
	before := policyFile
	policyFile = file
	t.Cleanup(func() { policyFile = before })
}
