// Package ports opens TCP ports and serves HTTP on them. Open, NewServer, Serve and Health are for every port; Guard admits
// requests with a token; HTTPServer serves MCP, and MetricsServer metrics for Prometheus. It guarantees that a web page of
// another origin is refused, and that clients without a token cannot use up the connections. The answers come from mcpserver
// and bridge.
//
// Locks: limitedListener.mu only.
package ports
