// Package ports opens TCP ports and serves HTTP on them. All ports use Open, NewServer, Serve and Health. Guard admits
// requests with a token. HTTPServer serves MCP, and MetricsServer serves metrics for Prometheus. Requests from a web
// page of another origin are refused, and clients without a token cannot use up the connections.
//
// The package has only one lock, limitedListener.mu.
package ports
