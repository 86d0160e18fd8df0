package config

// What config check and places print with --json.
type (
	CheckedConfig  = configReport
	CheckedProblem = problemReport
	KnownPlace     = placeReport
)
