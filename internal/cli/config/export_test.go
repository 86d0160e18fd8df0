package config

import "testing"

// What config check and places print with --json.
type (
	CheckedConfig  = configReport
	CheckedProblem = problemReport
	KnownPlace     = placeReport
)

// UsePolicyFile replaces the place of the system's managed policy until the end of a test.
func UsePolicyFile(t *testing.T, file string) {
	before := policyFile
	policyFile = file
	t.Cleanup(func() { policyFile = before })
}
