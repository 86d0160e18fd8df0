// Package telemetry makes an OpenTelemetry span of each request, and passes the trace context of a caller on to the
// server. Without telemetry its types are nil, and cost nothing.
//
// What a request is and when it ends is package hub's; the package calls nobody back but the host's exporter.
package telemetry
