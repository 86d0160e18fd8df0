// Package trace has mcphub trace, which shows the timeline of a request.
//
// What must not live here: writing one (package call).
package trace
