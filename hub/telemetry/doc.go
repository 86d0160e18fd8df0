// Package telemetry makes an OpenTelemetry span of each request, and passes the trace context of a caller on to the
// server. Without telemetry, values of its types are nil, and their methods do nothing.
//
// Package hub decides what a request is and when it ends. The package calls nobody back except the host's exporter.
package telemetry
