// Package ports opens TCP ports and serves HTTP on them. Its servers use Open, NewServer, Serve and Health. Guard
// admits only requests with a token, and refuses requests from a web page of another origin. HTTPServer serves MCP;
// clients without a token cannot use up its connections. Metrics serves metrics for Prometheus.
package ports
