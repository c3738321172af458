// Package ports opens TCP ports and serves HTTP on them. Open, NewServer, Serve and Health are for every port; Guard
// admits requests with a token; HTTPServer serves MCP, and MetricsServer metrics for Prometheus. Requests of a web page
// of another origin are refused, and clients without a token cannot use up the connections.
//
// Locks: limitedListener.mu only.
package ports
